"""Secrets: each rule on values of its own, the labelled set, and texts that are made to cost time."""

import json
import re
import string
from base64 import b64encode
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.language.secret_shapes import is_basic, is_bearer, is_key, is_password
from mabos_cli.core.language.secrets import RULES, Secret, find_secrets, redact

ROOT = Path(__file__).parents[3]
DICE = Random(9)
ALNUM, HEX = string.ascii_letters + string.digits, "0123456789abcdef"
CAPITALS, WIDE = string.ascii_uppercase + string.digits, string.ascii_letters + string.digits + "_-"


def drawn(letters: str, length: int) -> str:
    """Random letters; digits and both cases are among the first, as far as there are any."""
    head = "".join(DICE.choice(part) for part in ("k4h7n2", "Q9W3T6", "8b5d1f") if set(part) <= set(letters))
    return (head + "".join(DICE.choice(letters) for _ in range(length)))[:length]


# kind -> a value of it, put together so that no scanner of a code host takes this file for a leak
TOKENS = {
    "aws_access_key": "AK" + "IA" + drawn(CAPITALS, 16),
    "github_token": "gh" + "p_" + drawn(ALNUM, 36),
    "gitlab_token": "gl" + "pat-" + drawn(WIDE, 20),
    "slack_token": "xo" + "xb-" + "2048159263-" + "3141592653-" + drawn(ALNUM, 24),
    "slack_webhook": "https://hooks.slack" + ".com/services/T0A1B2C3D/B0A1B2C3D/" + drawn(ALNUM, 24),
    "stripe_key": "sk_" + "live_" + drawn(ALNUM, 24),
    "anthropic_key": "sk-" + "ant-api03-" + drawn(WIDE, 93),
    "openai_key": "sk-" + "proj-" + drawn(WIDE, 64),
    "google_api_key": "AI" + "za" + drawn(WIDE, 35),
    "google_oauth": "GOC" + "SPX-" + drawn(WIDE, 28),
    "npm_token": "np" + "m_" + drawn(ALNUM, 36),
    "pypi_token": "py" + "pi-AgEI" + drawn(WIDE, 80),
    "sendgrid_key": "S" + "G." + drawn(WIDE, 22) + "." + drawn(WIDE, 43),
    "twilio_key": "S" + "K" + drawn(HEX, 32),
    "mailgun_key": "ke" + "y-" + drawn(HEX, 32),
    "telegram_token": "1234509876:" + "AA" + drawn(WIDE, 33),
    "token": "M" + drawn(ALNUM, 25) + "." + drawn(WIDE, 6) + "." + drawn(WIDE, 30),
    "discord_webhook": "https://discord" + ".com/api/webhooks/123456789012345678/" + drawn(WIDE, 68),
    "huggingface_token": "h" + "f_" + drawn(ALNUM, 34),
    "digitalocean_token": "do" + "p_v1_" + drawn(HEX, 64),
    "shopify_token": "shp" + "at_" + drawn(HEX, 32),
    "linear_key": "lin_" + "api_" + drawn(ALNUM, 40),
    "notion_token": "nt" + "n_" + drawn(ALNUM, 46),
    "vault_token": "hv" + "s." + drawn(WIDE, 24),
    "age_key": "AGE-SECRET" + "-KEY-1" + drawn(CAPITALS, 58),
    "docker_token": "dckr" + "_pat_" + drawn(WIDE, 27),
    "databricks_token": "da" + "pi" + drawn(HEX, 32),
    "grafana_token": "gl" + "sa_" + drawn(ALNUM, 32) + "_" + drawn(HEX, 8),
    "atlassian_token": "ATA" + "TT3" + drawn(WIDE, 60),
    "jwt": "ey" + "J" + drawn(ALNUM, 20) + ".ey" + "J" + drawn(ALNUM, 40) + "." + drawn(WIDE, 43),
}
# kind -> lines with such a value between braces
AROUND = {
    "aws_secret_key": [
        f"{TOKENS['aws_access_key']} / {{{drawn(ALNUM, 40)}}}",
        f"{TOKENS['aws_access_key']},{{{drawn(ALNUM, 40)}}}",
    ],
    "azure_key": [
        f"AccountName=a;AccountKey={{{drawn(ALNUM, 86)}==}};EndpointSuffix=x",
        f"https://a.blob.core.windows.net/c?sv=2022&sig={{{drawn(ALNUM, 43)}%3D}}&se=1",
    ],
    "github_token": [f"use {{github_{'pat_' + drawn(ALNUM, 22)}_{drawn(ALNUM, 59)}}}"],
    "gitlab_token": [f"runner {{GR13{'48941' + drawn(WIDE, 20)}}}"],
    "stripe_key": [f"{{wh{'sec_' + drawn(ALNUM, 32)}}}"],
    "password": [
        "curl -s -u ada:{hunter2x} https://api",
        "machine git.example.com login ada password {hunter2x}",
        "sshpass -p {hunter2x} ssh ada@host",
        "mysql -u root -p{hunter2x} shop",
        "redis-cli -h cache -a {hunter2x} ping",
        "net use Z: //nas/share /user:office {hunter2x}",
        "echo 'root:{hunter2x}' | chpasswd",
        "CREATE USER 'report' IDENTIFIED BY '{hunter2x}';",
        "db1.example.com:5432:shop:app:{hunter2x}",
        "jdbc:oracle:thin:scott/{hunter2x}@//ora1:1521/ORCL",
        "WIFI:T:WPA;S:CafeLuna;P:{hunter2x};;",
        "login is bob / {Sunset2017$}",
        "credentials: admin:{Sunset2017$}",
        "u: backup p: {Sunset2017$}",
        "curl https://api.twilio.com -u ada:{dfb5abbb06fe0dea2161815e2da1df05}",
        "curl --user 'deploy:{walnut-river-comet-74}' -T build.zip https://files",
        "keytool -importkeystore -srcstorepass {Harbor2021#} -srckeystore a.jks",
        '$p = ConvertTo-SecureString "{Harbor2021#}" -AsPlainText -Force',
        'driver.find_element(By.ID, "password").send_keys("{Harbor2021#}")',
        "openssl enc -aes-256-cbc -in a -out b -k {walnut-river-comet-74}",
        "smbclient //nas/share -U 'backup%{Harbor2021#}'",
    ],
    "secret": [
        f"aws_secret_access_key = {{{drawn(ALNUM, 40)}}}",
        f"the AWS secret key is {{{drawn(ALNUM, 40)}}}",
        f"azure client secret {{{drawn(ALNUM, 3)}8Q~{drawn(ALNUM, 34)}}}",
        f"//registry.npmjs.org/:_authToken={{{drawn(HEX, 36)}}}",
        f"DD-APPLICATION-KEY: {{{drawn(HEX, 40)}}}",
        f"datadog api_key: {{{drawn(HEX, 32)}}}",
        f'hmac.new(b"{{{drawn(ALNUM, 24)}}}", body, sha256)',
        "JWT_SECRET={saturn-falcon-ember-50}",
        "the secret is {c0pp3rw1ll0w44}, keep it",
        "license key {K4H7N-Q9W3T-8B5D1-F2K7M-Z3X9C}",
    ],
    "mail_key": [
        f"mailgun: {{{drawn(HEX, 32)}-{drawn(HEX, 8)}-{drawn(HEX, 8)}}}",
        f"mailchimp {{{drawn(HEX, 32)}-us12}}",
        f"{{re_{drawn(ALNUM, 8)}_{drawn(ALNUM, 24)}}}",
        f"{{xkeysib-{drawn(HEX, 64)}-{drawn(ALNUM, 16)}}}",
    ],
    "url_password": [
        "postgres://app:{hunter2x}@db.internal:5432/prod",
        "redis://:{p@ssw0rd!}@cache:6379/0",
        f"https://{{{drawn(ALNUM, 32)}}}@git.example.com/repo",
        r"{\"url\": \"amqp:\/\/app:{hunter2x}@mq\"}".replace(r"{\"url", r"\"url").removesuffix("}"),
    ],
    "authorization": [
        f"Authorization: Basic {{{b64encode(b'ada:hunter2x').decode()}}}",
        f"curl -H 'Authorization: Bearer {{{drawn(ALNUM, 32)}}}' https://api",
        f'"auths": [{{"auth": "{b64encode(b"ci:hunter2x").decode()}"}}]'.replace('{"auth": "', '"auth": "{').replace(
            '"}]', '}"]'
        ),
    ],
    "private_key": [f"tls.key: {{LS0tLS1CRUdJTi{'BSU0EgUFJJVkFURSBLRVktLS0tLQo' + drawn(ALNUM, 60)}}}"],
    "ai_key": [f"use {{xai-{drawn(ALNUM, 40)}}}", f"{{gsk_{drawn(ALNUM, 52)}}}", f"is {{r8_{drawn(ALNUM, 37)}}} ours?"],
    "cloud_token": [f"{{tskey-api-{drawn(ALNUM, 17)}-{drawn(ALNUM, 32)}}}", f"{{LTAI5t{drawn(ALNUM, 18)}}}"],
    "database_token": [f"{{sbp_{drawn(HEX, 40)}}}", f"{{pscale_pw_{drawn(ALNUM, 43)}}}"],
    "package_token": [f"{{rubygems_{drawn(HEX, 48)}}}", f"{{bkua_{drawn(HEX, 40)}}}"],
    "payment_key": [f"{{sq0atp-{drawn(ALNUM, 22)}}}", f"{{access_token$production${drawn(HEX, 16)}${drawn(HEX, 32)}}}"],
    "workspace_token": [f"{{figd_{drawn(ALNUM, 40)}}}", f"{{pat{drawn(ALNUM, 14)}.{drawn(HEX, 64)}}}"],
    "monitoring_key": [f"{{NRAK-{drawn(CAPITALS, 27)}}}"],
    "onepassword_key": ["{A3-K4H7N2-Q9W3T6-8B5D1-F2K7M-Z3X9C-4V6N8}"],
    "map_key": [f"{{sk.eyJ{drawn(ALNUM, 50)}.{drawn(ALNUM, 22)}}}"],
    "flag_key": ["sdk key -> {sdk-0e9b7c5a-1d2f-4a6b-8c3d-5e4f6a7b8c9d}"],
    "social_token": [f"{{EAA{drawn(ALNUM, 120)}}}", f"{{{'A' * 21}{drawn(ALNUM, 90)}}}"],
    "password_hash": [
        f"ada:{{$2y$10${drawn(ALNUM, 53)}}}",
        f"root:{{$6${drawn(ALNUM, 16)}${drawn(ALNUM, 86)}}}:19750:0:99999:7:::",
    ],
    "otp_secret": [
        "authenticator key for GitHub: {sua6 hkdc faa2 wbbz pcyp vg3a uov5 zbll}",
        "2FA setup key {XXPRHMALTOXZQ5N26TJ5M4UT}",
        "Can't scan? Enter this code: {35yh 46uq zbcg lqg2 myrj 5zta e3nf hvxu}",
    ],
    "pin": [
        "my bank pin is {8264}",
        "SIM PIN {0952}",
        "the PIN of the company card is {7316}.",
        "door code: {4711}",
        "SIM pin {9939}",
        "G-{638925} is your Google verification code.",
    ],
    "card_check": ["exp 11/27 CVV {831}", "cvc: {407}"],
    "card": ["Visa {4111 1111 1111 1111} exp 04/29", "card={4012888888881881}&exp=1128", "Amex {3782 822463 10005}"],
    "recovery_code": ["GitHub recovery codes: {9e136-c4d1c 934a1-96ad0}", "backup codes: {7587 3304, 0963 3968}"],
    "seed_phrase": [
        "{legal winner thank year wave sausage worth useful legal winner thank yellow}",
        "seed: {1. letter 2. advice 3. cage 4. absurd 5. amount 6. doctor 7. acoustic 8. avoid 9. lunch 10. crisp 11. hip 12. topic}",
    ],
    "session_cookie": [f"Set-Cookie: PHPSESSID={{{drawn(HEX, 26)}}}; Path=/"],
    "token": [
        f"token: {{{drawn(ALNUM, 32)}}}",
        f"credential={{{drawn(ALNUM, 24)}}}",
        f"export VAULT_TOKEN={{s.{drawn(ALNUM, 24)}}}",
        "kubeadm join 10.0.0.1:6443 --token {k4h7n2.8b5d1fq9w3t6z0x2}",
        f"storage key1 {{{drawn(ALNUM, 86)}==}}",
        f"a vendor that nobody knows: {{acme_live_{drawn(ALNUM, 40)}}}",
        f"REDIS_AUTH={{{drawn(ALNUM, 20)}}}",
        f"密钥：{{{drawn(ALNUM, 32)}}}",
    ],
}
SENTENCES = """
password (prod): {Sunset2017$}
The password was changed to {Sunset2017$} on Monday.
Use {Sunset2017$} as the password when the installer asks.
The old password ({Sunset2017$}) still works.
**Password:** {Sunset2017$}
Password:\\n{Sunset2017$}
temporary password {Sunset2017$}, valid for a day
Is {Sunset2017$} still the right password?
NAS admin -> {Sunset2017$} (password), do not lose
sign in with the password {river-ferry-walnut-91} until Friday
Das Passwort lautet {Sunset2017$}.
Benutzer: kasse, Kennwort: {Sunset2017$}
Le mot de passe du serveur est {Sunset2017$}.
Utilise {Sunset2017$} comme mot de passe.
Cambié la contraseña a {Sunset2017$} esta mañana.
A senha do banco é {Sunset2017$}.
hasło: {Sunset2017$}
пароль: {Sunset2017$}
新密码为 {Sunset2017$}
服务器的密码是{Sunset2017$}，请保密。
パスワード：{Sunset2017$}
비밀번호: {Sunset2017$}
| Host | User | Password |\\n|------|------|------|\\n| db-1 | app | {Sunset2017$} |
name,url,login,password\\nJira,https://jira.example.com,bob,{Sunset2017$}
| **Password** | {Sunset2017$} |
**Password:** {P@ss.Marble68}
enter {Sunset2017$} at the password prompt
Pass phrase of the backup disk: {walnut-rocket-fjord-15}
The guest network key is {3mb3rtig3r89}
unlock the vault with {walnut-meadow-falcon-94}
The password used to be tiger2005, now it is {P@ss.Dragon83}
hex key of the deployer: {a74b4b5b3ceb663824b0a4902295f56e04d47005000cd0be9b4134f0640e28ee}
accounts: ["{0xdf7f66b3012a5a937c0dedf71b23f446d939185c9988d7bd44aee1c4f8b3b2ab}"]
<add key="ATLAS_PRIVATE_KEY" value="{5912be37-7b2a-4ff2-9732-ae3f062a89a8}" />
p\u0430ssw\u043erd: {Sunset2017$}
pass\u200bword: {Sunset2017$}
\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1a{Sunset2017$}
ETH_PRIVKEY: "{1a9f7a4e72b533379c9ff56c04ab1501b29cff6b2496fe982db234fc4b0bb95f}"
private key of the deployer: {0x881543fd9f5fadf1a13baf75aaaa5df5f614be10aee6fd4661df9683a68fead1}
as promised, the admin API key:\\n\\n    {30c708e1686149622b4073755571b933}\\n\\nBest
I found the master key "{c0ed2c39248a7733aeb8fdc76e405ed0}" in the wiki
os.Setenv("API_KEY", "{tKMCchgGazMeIH48Z2ykQ6Wqs7MbeMDiwZNs}")
{"kty":"oct","k":"{JHcrwBZxayS7VkizmRUIGskqONlUglC8AFUUTSNInHA}"}
""".strip().split("\n")
PAIRS = (
    "{name}={value}",
    "export {name}='{value}'",
    "{name}: {value}",
    '"{name}": "{value}",',
    r"\"{name}\": \"{value}\"\n",
    r"first\n{name}={value}\nlast",
    "?a=1&{name}={value}&b=2",
    "{name}%3D{value}%26b%3D2",
    "<{name}>{value}</{name}>",
    '<add key="{name}" value="{value}"/>',
    "- name: {name}\n  value: {value}",
    "deploy --{name} {value} --dry-run",
    '{name}: str = "{value}"',
    "config['{name}'] = '{value}'",
    "Server=db;{name}={value};Database=x",
    "the {name} is {value}",
)
PLACES = (
    "{}",
    "see {}, and rotate it.",
    "`{}`",
    'x = "{}"',
    r"{{\"x\": \"{}\"}}",
    r"out\n{}\nnext",
    "x%3D{}",
    "\x1b[32m{}\x1b[0m",
    "<x>{}</x>",
    "a={};b=2",
)
BENIGN = """
the password policy requires 12 characters, 1 digit and 1 symbol
password: string
password = form.password
password = os.environ["DB_PASSWORD"]
DB_PASSWORD=${DB_PASSWORD:-changeme}
DB_PASSWORD=<your-password>
password: "********"
password is SHA-256 hashed
password: required|min:8
if (password === confirmPassword2) {
PWD=/home/ada/work2
api_key: YOUR_API_KEY
api_key = "xxxxxxxxxxxxxxxxxxxx"
api_key: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/key-AbC123
secretName: my-app-tls-2024
kubectl get secret db-credentials-7f9c -o yaml
token: ${{ secrets.GITHUB_TOKEN }}
token: 123e4567-e89b-12d3-a456-426614174000
next_page_token=CAEQAA12345abcdefXYZ
max_tokens: 4096, temperature: 0.7
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
M-1708800000000-a3f2 says so
postgres://user:password@localhost:5432/db
https://user:<token>@host and git@github.com:org/repo.git
Authorization: Bearer $TOKEN
basic understanding of bearer authentication is required
-----BEGIN PUBLIC KEY-----
the number 4111 1111 1111 1112 has a wrong check digit, and IMEI 490154203237518 is no card
GPIO pin 17 drives the relay; a PIN must be 4 to 6 digits long
host key fingerprint: SHA256:zQI37FB4PIkB4mIY5ZvycaP3n+Q3QG4XRC9t5BRKxEG
cache key: node-modules-8a6643a044aaaac5d2d10085fa9942f861ff75cc219d5b03c840f374c35789d8
you may pass force_zip64=False, and the password prompt appears twice
Passwort vergessen? La contraseña debe tener al menos ocho caracteres. 忘记密码？
design build test ship measure learn repeat plan review deploy monitor improve
[True, False, True, False, True, True, False, True, True, True, False, True, False]
password hash algorithm: argon2id, params 4794/1/6
"hunter2" is an old joke about passwords
Build cache key: linux-py312-ac0390e9c3217dfb873bee238bb226a8445f36a601eb59acbd0bc19453faf22e
did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK
ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)
1. **Secure Password Hashing**: use a slow function
chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT and NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2 are ids
new WebClient('xoxb-your-slack-token')
tx 0x112c512d8f5e04cb5d810ac4af4bdeca47024f67fd08682dcf61bfcd5bf6ac8a was mined, and the key to success is patience
""".strip().split("\n")


def covered(line: str, value: str) -> list[str]:
    """The kinds of what is found at exactly the value, and of nothing else."""
    start = line.index(value)
    found = find_secrets(line)
    assert [(secret.start, secret.end) for secret in found] == [(start, start + len(value))], found
    return [secret.kind for secret in found]


@pytest.mark.parametrize("kind", TOKENS)
def test_tokens_are_known_by_how_they_look_wherever_they_stand(kind: str) -> None:
    for place in PLACES:
        line = place.format(TOKENS[kind])
        found = find_secrets(line)
        start = line.index(TOKENS[kind])
        assert [secret.kind for secret in found] == [kind], place
        assert found[0].start == start and found[0].end in (start + len(TOKENS[kind]), len(line)), place


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind in AROUND for line in AROUND[kind]])
def test_secrets_are_known_by_what_stands_around_them(kind: str, line: str) -> None:
    value = re.search(r"\{(.*)\}", line)[1]
    line = line.replace("{" + value + "}", value)
    start = line.index(value)
    assert kind in [s.kind for s in find_secrets(line) if s.start <= start and start + len(value) <= s.end]


@pytest.mark.parametrize("line", SENTENCES)
def test_values_are_secret_by_what_a_sentence_says_of_them(line: str) -> None:
    before, value, after = re.fullmatch(r"(.*?)\{([^{}:]+)\}(.*)", line).groups()
    text = (before + value + after).replace("\\n", "\n")
    start = text.index(value)
    assert any(s.start <= start and start + len(value) <= s.end for s in find_secrets(text))


def test_hidden_characters_go_with_the_secret_and_move_nothing() -> None:
    token = TOKENS["github_token"]
    hidden = token[:9] + "\u200b" + token[9:20] + "\u00ad" + token[20:]
    assert redact(f"see {hidden} in caf\u00e9")[0] == "see [redacted:github_token] in caf\u00e9"
    assert find_secrets("caf\u00e9 \u200d password=hunter2x") == (Secret("password", 16, 24),)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("password", "DB_PASSWORD", "hunter2x"),
        ("password", "dbPassword", "Tr0ub4dor&3"),
        ("password", "passwd", "xK9#mQ2$vL"),
        ("secret", "api_key", drawn(HEX, 32)),
        ("secret", "client-secret", drawn(WIDE, 40).strip("-")),
        ("secret", "ACCESS_TOKEN", "0e9b7c5a-1d2f-4a6b-8c3d-5e4f6a7b8c9d"),
    ],
)
def test_values_are_secret_by_the_name_they_are_given_to(pair: str, kind: str, name: str, value: str) -> None:
    assert covered(pair.replace("{name}", name).replace("{value}", value), value) == [kind]


@pytest.mark.parametrize("line", BENIGN)
def test_what_only_looks_like_a_secret_is_none(line: str) -> None:
    assert find_secrets(line) == ()


@pytest.mark.parametrize("kind", [kind for kind in TOKENS if not kind.endswith("webhook")])
def test_a_form_filled_in_with_nothing_is_none(kind: str) -> None:
    """The value with its random part replaced: whatever follows the last sign, or the first four characters."""
    token = TOKENS[kind]
    known = max(4, *(token.rfind(sign, 0, 16) + 1 for sign in "-_.:"))
    empty = token[:known] + re.sub("[A-Za-z0-9]", "x", token[known:])
    assert find_secrets(f"use {empty} here") == ()


def pem(label: str, lines: int, newline: str = "\n") -> str:
    body = newline.join(drawn(ALNUM, 64) for _ in range(lines))
    return f"-----BEGIN {label}-----{newline}{body}{newline}-----END {label}-----"


@pytest.mark.parametrize("label", ["PRIVATE " + "KEY", "RSA PRIVATE " + "KEY", "PGP PRIVATE " + "KEY BLOCK"])
@pytest.mark.parametrize("newline", ["\n", r"\n", "\n    ", ""])
def test_a_private_key_goes_as_a_whole(label: str, newline: str) -> None:
    block = pem(label, 12, newline)
    assert redact(f"key: {block} end") == ("key: [redacted:private_key] end", ("private_key",))


def test_an_unclosed_private_key_ends_where_its_lines_end() -> None:
    block = pem("RSA PRIVATE " + "KEY", 8).rsplit("\n", 1)[0]
    assert redact(f"{block}\n\nThat is all that was left of it.")[0] == (
        "[redacted:private_key]\n\nThat is all that was left of it."
    )


def test_certificates_are_public() -> None:
    assert find_secrets(pem("CERTIFICATE", 10)) == ()


def test_where_secrets_overlap_one_covers_them_and_the_most_telling_kind_names_it() -> None:
    token = TOKENS["github_token"]
    assert redact(f"Authorization: Bearer {token}")[0] == "Authorization: Bearer [redacted:github_token]"
    assert redact(f'password="{token}!x"')[0] == 'password="[redacted:github_token]"'


def test_places_hold_after_letters_that_grow_in_lower_case() -> None:
    assert find_secrets("İİİ password=hunter2x") == (Secret("password", 13, 21),)


def test_markers_are_no_secrets_and_part_texts() -> None:
    assert find_secrets("password=[redacted:password] token: [redacted:jwt]") == ()
    assert redact("[redacted:jwt]password=hunter2x[redacted:jwt]")[0] == (
        "[redacted:jwt]password=[redacted:password][redacted:jwt]"
    )


PIECES = [
    *TOKENS.values(),
    *(
        "password",
        "secret: ",
        "token=",
        "api_key",
        "Bearer ",
        "Basic ",
        "://u:",
        "@",
        "=",
        ": ",
        " ",
        "\n",
        r"\n",
    ),
    *(
        '"',
        "'",
        ";",
        ",",
        "&",
        "%3D",
        "[redacted:x]",
        "hunter2x",
        "-----BEGIN PRIVATE " + "KEY-----",
        "-----END",
    ),
]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    found = find_secrets(text)
    ends = [0, *(place for secret in found for place in (secret.start, secret.end)), len(text)]
    assert ends == sorted(ends) and all(secret.start < secret.end for secret in found)
    once, kinds = redact(text)
    assert redact(once) == (once, ())
    assert bool(kinds) == bool(found) == (once != text)


@settings(deadline=None, derandomize=True)
@given(st.text("abcdefghij klmnopqrstuvwxyz.,-\n", max_size=300))
def test_plain_words_are_never_touched(text: str) -> None:
    assert redact(text) == (text, ())


HOSTILE = {
    "begins": "-----BEGIN RSA PRIVATE " + "KEY-----\n",
    "half a jwt": "eyJ-",
    "names": "token=",
    "names in quotes": "token=' ",
    "options": "--secret-",
    "separators": "password=-_-_",
    "addresses": "://a:b",
    "basic": "basic+",
    "digits": "1234567890:",
    "near": "datadog key vault twilio ",
    "markers": "password=[redacted:x]",
    "labels": "the password is ",
    "labels before": "as the password x1Y",
    "tables": "| password |\n|---|\n",
    "seeds": "able above zoo ",
    "codes": "recovery codes: ab12-cd34 ",
    "hidden": "pass\u200bword: ",
    "separated values": "a,password\n",
    "prefixes": "ab_",
    "lookalikes": "p\u0430ss",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_long_text_that_is_made_to_cost_time_is_done(name: str) -> None:
    """A pattern that goes back and forth would not come to an end here: so many steps squared take hours."""
    piece = HOSTILE[name]
    text = piece * (300_000 // len(piece)) + "!"
    found = find_secrets(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert (len(found) > 6_000) == (name in ("begins", "codes"))


def test_keys_are_in_lower_case_and_patterns_start_at_them() -> None:
    """A key in capitals would never be found, and its rule never run."""
    assert [rule for rule in RULES for key in rule.keys if key != key.lower()] == []
    assert [rule.kind for rule in RULES if not rule.keys and not rule.anywhere] == []


def test_values_are_judged_by_what_they_are_given_to() -> None:
    assert not is_bearer("9fceb02d0ae598e95dc970b74767f19372d61af8") and is_key(
        "9fceb02d0ae598e95dc970b74767f19372d61af8"
    )
    assert is_password("Harbor-81-lake") and not is_password("oauth2-proxy") and not is_password("at least 8")
    assert is_basic(b64encode(b"ada:hunter2x").decode()) and not is_basic("understanding")


def test_labelled_set() -> None:
    spec = spec_from_file_location("secrets_benchmark", ROOT / "benchmarks" / "secrets.py")
    benchmark = module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    labelled = json.loads(benchmark.SET.read_text("utf-8"))
    assert len(labelled["benign"]) >= 500 and len({sample["kind"] for sample in labelled["secrets"]}) >= 24
    got = benchmark.judge(labelled)
    assert got.recall >= 0.97, dict(got.missed)
    assert len({number for number, _ in got.alarms}) <= 0.005 * got.benign, got.alarms
