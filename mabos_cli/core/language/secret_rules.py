"""The rules for secrets: by which words a text is worth a closer look, what a secret looks like there, and what is none.

Every pattern takes time linear in the text, whatever the text: a repetition is bounded, or runs over characters at
which no other attempt of the same pattern starts, and nothing is repeated inside a repetition that can match the same
characters in two ways.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from mabos_cli.core.language.secret_shapes import (
    KEY_NAMES,
    PASSWORDS,
    after,
    ends_random,
    is_base32,
    is_basic,
    is_bearer,
    is_key,
    is_login,
    is_number,
    is_password,
    is_strong,
    is_token,
)


class Rule(NamedTuple):
    """One way to find secrets of a kind. The secret is the group of the pattern that matched, or else all of it."""

    kind: str
    keys: tuple[str, ...]  # in lower case; the pattern starts at one of them
    pattern: str
    judge: Callable[[str], bool] = is_token
    run: str = ""  # "token": the keys stand in a long run of letters and digits; "near": the secret is such a run
    anywhere: bool = False  # the pattern may start elsewhere; the text only has to hold a key, if there are any


# Where a token may start: after anything but a letter or digit, or after one that ends an escape: \n, %3D, \u003d, ESC[32m.
_EDGE = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=\[[0-9]m)|(?<=[\[;][0-9]{2}m))"
)
# The same for a token that goes on over - and _: in a long run of such characters only one attempt is made.
_RUN_EDGE = _EDGE.replace("(?<![A-Za-z0-9])", r"(?<![\w-])")
_END = r"(?![A-Za-z0-9])"


def _token(kind: str, keys: str, pattern: str, judge: Callable[[str], bool] = is_token) -> Rule:
    """Returns a rule for tokens that are known by how they begin."""
    return Rule(kind, tuple(keys.split()), f"{_EDGE}(?:{pattern})", judge, run="token")


_TOKENS = (
    _token("aws_access_key", "akia asia abia acca", rf"A(?:KI|SI|BI|CC)A[A-Z0-9]{{16}}{_END}"),
    _token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[opsur]_[A-Za-z0-9]{30,}"),
    _token("github_token", "github_pat_", r"github_pat_\w{30,}"),
    _token(
        "gitlab_token",
        "glpat- gldt- glrt- glft- glcbt- glptt- glsoat- glagent- gloas- glimt-",
        r"gl(?:pat|dt|rt|ft|cbt|ptt|soat|agent|oas|imt)-[\w.-]{20,}",
    ),
    _token("gitlab_token", "gr1348941", r"GR1348941[\w-]{20,}"),
    _token("slack_token", "xox xapp-", r"(?:xox[a-eoprs]|xapp)[.-][A-Za-z0-9.%-]{12,}"),
    _token("stripe_key", "sk_ rk_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _token("stripe_key", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    _token("anthropic_key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    _token(
        "openai_key", "sk-", r"sk-(?:(?:proj|svcacct|admin|None|or-v\d)-[\w-]{20,}|[A-Za-z0-9]{20,}(?![\w-]))", is_key
    ),
    _token("google_api_key", "aiza", r"AIza[\w-]{30,}"),
    _token("google_oauth", "gocspx- ya29. 1//0", r"(?:GOCSPX-|ya29\.|1//0)[\w.-]{20,}"),
    _token("npm_token", "npm_", rf"npm_[A-Za-z0-9]{{30,}}{_END}"),
    _token("pypi_token", "pypi-", r"pypi-[\w-]{40,}", is_key),
    _token("sendgrid_key", "sg.", r"SG\.[\w-]{16,}+\.[\w-]{30,}"),
    _token("twilio_key", "sk", rf"SK[0-9a-f]{{32}}{_END}"),
    _token("mailgun_key", "key-", rf"key-[0-9a-f]{{32}}{_END}"),
    _token("huggingface_token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _token("digitalocean_token", "dop_ doo_ dor_", r"do[opr]_v1_[0-9a-f]{40,}"),
    _token("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32,}"),
    _token("linear_key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _token("notion_token", "secret_ ntn_", r"(?:secret|ntn)_[A-Za-z0-9]{40,}"),
    _token("vault_token", "hvs. hvb. hvr.", r"hv[brs]\.[\w-]{20,}"),
    _token("age_key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Za-z]{40,}"),
    _token("docker_token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,}"),
    _token("databricks_token", "dapi", rf"dapi[0-9a-f]{{32}}(?:-\d)?{_END}"),
    _token("grafana_token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    _token("atlassian_token", "atatt3 atctt3", r"AT[AC]TT3[\w=-]{40,}"),
    _token("kubernetes_token", "k10", r"K10[0-9a-f]{64}::(?:server|node):[0-9a-f]{16,}"),
    # A PEM block inside base64, as in the secrets of Kubernetes.
    Rule(
        "private_key",
        ("ls0tls1crudjti",),
        rf"{_RUN_EDGE}LS0tLS1CRUdJTi(?:BSU0Eg|BQUklW|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg|BQR1Ag)[A-Za-z0-9+/=]{{20,}}",
    ),
    Rule("jwt", ("eyj",), rf"{_RUN_EDGE}eyJ[\w-]{{8,}}+\.eyJ[\w-]{{8,}}+(?:\.[\w-]+)*+", run="token"),
)


def _vendors(kind: str, length: int, prefixes: str, judge: Callable[[str], bool] = is_token) -> Rule:
    """Returns a rule for tokens of several vendors: how each begins, and how many random characters follow at least."""
    begins = prefixes.split()
    pattern = rf"(?:{'|'.join(map(re.escape, begins))})(?:[\w-]|[.%$:+/](?=[\w-])){{{length},}}={{0,2}}"
    return Rule(kind, tuple(dict.fromkeys(map(str.lower, begins))), f"{_EDGE}(?:{pattern})", judge, run="token")


_VENDORS = (
    _vendors("ai_key", 20, "xai- gsk_ r8_ pplx- tvly- nvapi- pcsk_ lsv2_ tgp_v1_ csk- jina_ sk_", is_key),
    _vendors(
        "cloud_token",
        20,
        "nfp_ pul- tskey- FlyV1 amzn.mws. fo1_ fm2_ hvs. HRKU- rnd_ dt0c01. dt0s01. dp.st. dp.pt. dp.ct.",
    ),
    _vendors("cloud_token", 16, "LTAI AQVN v1.0- t1.9 y0_Ag", is_key),
    _vendors("aws_access_key", 60, "ABSK"),
    _vendors("database_token", 20, "sbp_ sb_secret_ pscale_pw_ pscale_tkn_ pscale_oauth_ npg_ napi_"),
    _vendors("mail_key", 24, "re_ xkeysib- xsmtpsib- mlsn.", is_key),
    _vendors("package_token", 30, "rubygems_ squ_ sqp_ sqa_ sgp_ bkua_ CCIPAT_ CCIPRJ_ ATBB AKCp oy2", is_key),
    _vendors("payment_key", 20, "sq0atp- sq0csp- EAAA access_token$ FLWSECK shippo_live_ rzp_live_", is_key),
    _vendors(
        "workspace_token",
        20,
        "figd_ figo_ ATTA CFPAT- PMAK- PMAT- pat-na1- pat-eu1- tfp_ sl.u. sl.B apify_api_",
        is_key,
    ),
    _vendors("monitoring_key", 20, "NRAK- NRAA- sntrys_ sntryu_ glc_ phx_ ddp_"),
    _vendors("onepassword_key", 40, "ops_eyJ"),
    _vendors("map_key", 40, "sk.eyJ tk.eyJ"),
    _vendors("social_token", 80, "EAA", is_key),
    _vendors("social_token", 60, "AAAAAAAAAAAAAAAAAAAA", ends_random),
    _token("onepassword_key", "a3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){3,4}[A-Z0-9]{5}"),
    _token("flag_key", "sdk- api- mob-", rf"(?:sdk|api|mob)-[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}{_END}"),
    _token("workspace_token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule("cloud_token", ("atlasv1",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}", run="token", anywhere=True),
    Rule("monitoring_key", ("nral",), r"(?<![0-9a-f])[0-9a-f]{36}NRAL", run="token", anywhere=True),
    Rule("social_token", ("apa91b",), r"[\w-]{11}:APA91b[\w-]{100,}", run="token", anywhere=True),
)

_SLASH = r"(?:\\{0,3}/|%2F)"  # JSON may write \/
_WEB = f"(?:https?(?::|%3A){_SLASH}{_SLASH})?"
# Tokens that are known by what stands around them.
_NEAR_RULES = (
    Rule("private_key", ("kty",), r"\"(?:d|k|p|q|dp|dq|qi)\\?\"\s{0,2}:\s{0,2}\\?\"([\w-]{20,})", anywhere=True),
    Rule("private_key", ("private-lines",), r"Private-Lines: ?\d+\s+((?:[A-Za-z0-9+/=]{16,}\s+){1,64})"),
    Rule("private_key", ("xprv", "yprv", "zprv", "tprv"), r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}", run="token"),
    Rule(
        "aws_secret_key",
        ("secret", "akia", "asia"),
        r"(?:(?i:secret[_ -]?access[_ -]?key|(?:(?<=aws)|(?<=aws[_ -]))secret(?:[_ -]?key)?)(?:[ ]is)?(?:\W|%3D|\\u003d){1,12}"
        r"|A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9/+]{1,20})([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    Rule(
        "azure_key",
        ("accountkey", "sharedaccess", "sig"),
        r"(?i:AccountKey|SharedAccessKey|SharedAccessSignature|(?<![a-z])sig)\s{0,2}(?:=|%3D)\s{0,2}"
        r"((?:[A-Za-z0-9+/]|%2[BbFf]){32,}(?:=|%3[Dd]){0,2})",
    ),
    Rule("azure_key", ("azure", "storage", "keyname"), r"(?<![A-Za-z0-9+/-])[A-Za-z0-9+/]{86}==", anywhere=True),
    Rule("azure_key", ("q~",), r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{30,40}(?![\w~.-])", anywhere=True),
    Rule("npm_token", ("_auth",), r"_auth(?:Token)?[ \t]{0,2}=[ \t]{0,2}\"?([^\s\"$]{16,})", is_key),
    Rule("twilio_key", ("twilio",), r"(?i:twilio)[^\n]{0,120}?[^0-9A-Za-z]([0-9a-f]{32})(?![0-9A-Za-z])"),
    Rule(
        "mailgun_key",
        ("mailgun", "api:", "-us"),
        r"(?<![0-9A-Za-z-])[0-9a-f]{32}-(?:[0-9a-f]{8}-[0-9a-f]{8}|us\d{1,2})(?![0-9A-Za-z-])",
        anywhere=True,
    ),
    Rule("telegram_token", (":aa", "%3aa"), r"(?<!\d)\d{8,10}(?::|%3A)AA[\w-]{30,}", anywhere=True),
    Rule("telegram_token", ("telegram", "bot"), r"(?<!\d)\d{8,10}(?::|%3A)[\w-]{35}(?![\w-])", is_key, anywhere=True),
    Rule(
        "discord_token",
        (".",),
        r"[MNO](?:(?<![\w-].)|(?<=\\[nrt].)|(?<=%[0-9A-F]{2}.)|(?<=[0-9]m.))[\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}",
        is_key,
        run="token",
        anywhere=True,
    ),
    Rule(
        "discord_webhook",
        ("webhooks",),
        rf"{_WEB}(?:canary\.|ptb\.)?discord(?:app)?\.com{_SLASH}api(?:{_SLASH}v\d+)?{_SLASH}webhooks{_SLASH}\d{{15,22}}"
        rf"{_SLASH}[\w-]{{30,}}",
        anywhere=True,
    ),
    Rule(
        "slack_webhook",
        ("hooks.slack.com",),
        rf"(?:{_WEB}hooks\.slack\.com{_SLASH}(?:services|workflows|triggers)|services)"
        rf"{_SLASH}T[A-Z0-9]{{6,}}+{_SLASH}[AB]?[A-Z0-9]{{6,}}+{_SLASH}[\w/-]{{16,}}",
        anywhere=True,
    ),
    Rule(
        "datadog_key",
        ("datadog", "dd_", "dd-"),
        r"(?i:datadog|(?<![a-z])dd[_-])[^\n]{0,40}?(?i:key)[^\n]{0,12}?(?<![0-9A-Za-z])"
        r"([0-9a-f]{40}|[0-9a-f]{32})(?![0-9A-Za-z])",
    ),
    Rule("vault_token", ("vault",), r"(?i:vault)[^\n]{0,60}?(?<![\w.])(s\.[A-Za-z0-9]{24})(?![\w.])"),
    Rule(
        "kubernetes_token",
        ("--token", "bootstrap", "kubeadm"),
        r"(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])",
        is_token,
        anywhere=True,
    ),
)

_NEAR = tuple(rule._replace(run=rule.run or "near") for rule in _NEAR_RULES)

# Secrets of other forms than one long run: numbers, codes in groups, hashes of passwords.
_SHORT = (
    Rule("password_hash", ("$",), r"\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2id?|scrypt)\$[\w./$=,+]{16,}"),
    Rule("password_hash", ("{sha", "{ssha"), r"\{S?SHA\d{0,3}\}[A-Za-z0-9+/]{20,}={0,2}"),
    Rule(
        "otp_secret",
        ("2fa", "otp", "authenticator", "setup key", "qr code"),
        r"(?i:2fa|otp|authenticator|setup key|qr code)[^\n]{0,80}?(?<![A-Za-z0-9])"
        r"([A-Z2-7]{16,64}|[a-z2-7]{16,64}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4}|(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4})"
        r"(?![A-Za-z0-9])",
        is_base32,
    ),
    Rule(
        "pin",
        ("pin", "puk", "code"),
        r"(?i:(?:(?<![a-z])p(?:in|uk)(?:[ -](?:code|number))?|(?<=door |gate |safe )code|(?<=alarm |entry )code"
        r"|(?<=access |unlock |keypad )code)s?"
        r"(?:[ \t]{0,2}[:=]?[ \t]{1,2}|(?:[ ][a-z]{1,12}){0,5}[ ](?:is|ist|est|es)[ :]{1,2}))"
        r"(\d{4,8})(?![\w-]|[.:]\d)",
        is_number,
    ),
    Rule(
        "card_check",
        ("cvv", "cvc", "security code"),
        r"(?i:cvv2?|cvc2?|security code)[ \t\"']{0,3}(?:[:=]|is)?[ \t\"']{0,3}(\d{3,4})(?![\w-])",
        is_number,
    ),
)

# Names and passwords in addresses, headers and command lines.
_LOGINS = (
    Rule("url_password", ("://", r":\/\/"), r":\\?/\\?/[^\s:/@\"'<>`]{0,128}:([^\s/\"'<>`]{1,256})@", is_login),
    Rule("url_password", ("://", r":\/\/"), r":\\?/\\?/([^\s:/@\"'<>`]{20,256})(?::(?:x-oauth-basic)?)?@", is_bearer),
    Rule(
        "url_password",
        ("%3a%2f%2f",),
        r"(?i)%3A%2F%2F[^\s:/@%\"']{0,128}(?:%3A|:)([^\s/@&\"']{1,256}?)(?:%40|@)",
        is_login,
    ),
    Rule("authorization", ("basic",), r"(?i:basic)(?:\s|%20|\+){1,3}([A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    Rule(
        "authorization",
        ("auth",),  # as in the settings of Docker
        r"auth\\?[\"']\s{0,2}:\s{0,2}\\?[\"']([A-Za-z0-9+/]{8,}+={0,2})",
        is_basic,
    ),
    Rule(
        "authorization",
        ("bearer", "authorization"),
        r"(?i:bearer|authorization\\?[\"']?\s{0,2}[:=]\s{0,2}\\?[\"']?(?:token|apikey|key|bot|digest)?)"
        r"(?:\s|%20|\+){1,3}[\"']?([\w.~+/-]{16,}={0,2})",
        is_key,
    ),
    Rule(
        "password",
        ("curl", "wget", "http"),
        r"[ \t'\"](?:-u|--user|--proxy-user|--auth|-a)[ =]?[\"']?[^\s:\"'=/]{1,100}:([^\s\"']{3,256})",
        is_password,
        anywhere=True,
    ),
    Rule("password", ("login",), r"login[ \t\n]{1,8}\S{1,100}[ \t\n]{1,8}password[ \t]{1,8}(\S{4,256})", is_password),
    Rule(
        "password",
        (" -p", " -a"),
        r"(?:sshpass|mysql|docker login|redis-cli|zip|7z)[^\n]{0,80}? -[pPa] ?[\"']?([^\s\"'-][^\s\"']{4,255})",
        is_password,
        anywhere=True,
    ),
    Rule(
        "password",
        ("htpasswd",),
        r"htpasswd[^\n]{0,20} -\w{0,4}b\w{0,4} \S{1,100} \S{1,100} ([^\s\"']{4,256})",
        is_password,
    ),
    Rule(
        "password",
        ("chpasswd",),
        r"[\w-]{1,40}:([^\s\"']{4,256})[\"']?[^\n]{0,20}\|[^\n]{0,20}chpasswd",
        is_password,
        anywhere=True,
    ),
    Rule("password", ("/user:",), r"/user:\S{1,100} ([^\s\"'/]{4,256})", is_password),
    Rule("password", ("community",), r"community ([^\s\"']{6,256})", is_password),
    Rule("password", ("jdbc:",), r"jdbc:[\w:]{3,40}:[\w$]{1,60}/([^\s@\"'/]{3,256})@", is_login),
    Rule("password", ("wifi:",), r"(?i:wifi:)[^\n]{0,80}?P:([^;\n]{4,256})", is_login),
    Rule(
        "password",
        ("identified", "password"),
        r"(?i:identified(?: with \S{1,40})? (?:by|as)|password) {1,4}[\"']([^\"'\n]{4,256})[\"']",
        is_password,
    ),
    Rule(
        "password",
        ("pgpass", ":543"),
        r"(?m)(?<![\w.*-])[\w.*-]{1,100}:(?:\d{4,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:(\S{6,256})$",
        is_password,
        anywhere=True,
    ),
    # A name and a password, in one breath.
    Rule(
        "password",
        ("credential", "login", "user", "zugang", "identifiant"),
        r"(?i:(?:credentials?|login|zugang|zugangsdaten|identifiants?|user(?:name)?/[a-z]{2,10})s?"
        r"(?:[ \t](?:is|are|details|data))?[ \t]{0,2}[:=]?[ \t]{1,3})"
        r"[\"'`]?[\w.@+-]{2,60}[\"'`]?(?:[ \t]?/[ \t]?|:)[\"'`]?([^\s\"'`]{6,256})",
        is_password,
    ),
    Rule(
        "password",
        (" p:", " p="),
        r"(?i:(?<![a-z])u(?:ser)?[:=] ?\S{1,60}[ ,;/]{1,3}p[:=] ?)([^\s\"']{6,256})",
        is_strong,
        anywhere=True,
    ),
    Rule(
        "session_cookie",
        ("sessid", "sessionid=", "connect.sid", "cookie"),
        r"(?i:cookie[^\n]{0,200}?(?:sess|sid|auth|token)[\w.-]{0,20}|sess(?:ion)?id|connect\.sid)=\"?(?:s%3A)?([\w.%+/-]{20,512})",
        is_key,
    ),
)

# name = value, in the ways of .env files, YAML, JSON (also inside strings), XML, queries, options and plain words.
_QUOTE = r"\\{0,3}[\"'`]"
_IS = (
    rf"(?:(?:{_QUOTE})?\]?[ \t]{{0,8}}(?::[ \t]?[A-Za-z][\w\[\].| ]{{0,20}}?(?=[ \t]?=[^=]))?[ \t]?"
    rf"(?:={{1,3}}>?|:=?(?!/)|->|>|%3[ADad]|\\u003[adAD])(?:[ \t]|%2[027]){{0,8}}"
    rf"|(?:{_QUOTE})?,?(?:\s|\\n){{1,24}}(?:{_QUOTE})?value(?:{_QUOTE})?[ \t]{{0,4}}[:=][ \t]{{0,4}}"
    rf"|(?:{_QUOTE}),[ \t]{{0,4}}(?=[\"'])"
    r"|[ \t](?:for[ \t][\w .-]{1,40}?[ \t])?(?:is|was|to|set to)[ \t:]{1,3})"
)
# A sign that may end a value does so before a space, a quote, another such sign or the next pair.
_NEXT = r"[\s;,&)}\]\"'`\\]|$|[\w. -]{1,30}[=:]"
_BARE = rf"(?:[^\s\"'`;,&)}}\]<>\\%]|%(?!2[0267C]|3[BE]|0[AD])|[;,&)}}\]](?!{_NEXT})|\\(?![nrt\"'\\u]))"
_VALUE = (
    r"(?:[bru]?\\{0,3}\"((?:[^\"\\\n]|\\(?![\"nrt\\])){4,2048}+)\\{0,3}\"|[bru]?'([^'\n]{4,2048}+)'|`([^`\n]{4,2048}+)`"
    rf"|(?:{_QUOTE})?({_BARE}{{4,2048}}+))"
)
_TAIL = (
    r"(?:[_-]?(?:access|key|base|value|string|prod(?:uction)?|dev|staging|live|test|primary|secondary|old|new|\d{1,3}))"
    r"{0,2}"
)
# No sign is needed after an option or a variable: --password VALUE, --db-password VALUE, ENV DB_PASSWORD VALUE.
_OPTION = "(?:(?-i:(?<=[A-Z]_))|" + "|".join(rf"(?<=--[\w-]{{{length}}})" for length in range(16)) + ")"


def _assigned(kind: str, keys: tuple[str, ...], names: str, judge: Callable[[str], bool]) -> Rule:
    """Returns a rule for values that are secret because of the name they are given to."""
    pattern = rf"(?i:({_OPTION})?(?:{names}){_TAIL}(?:{_IS}|(?(1)[ \t]{{1,4}}|(?!)))){_VALUE}"
    return Rule(kind, keys, pattern, judge)


_KEYS = after(KEY_NAMES)
_GRANTS = after("access auth api refresh bot personal deploy security admin private oauth oauth2 server".split())
_NAMED = (
    _assigned(
        "password",
        ("pass", "pw", "psk", *PASSWORDS),
        rf"passwor[dt]|passwd|passord|(?<=mot de )passe|(?<=palavra-)passe|passphrase|passcode|(?:store|key)pass|bindpw|(?<![a-z])(?:pwd|pass|pw|psk)|{'|'.join(PASSWORDS)}|(?-i:(?<=[a-z])(?:Pass|Pwd))",
        is_password,
    ),
    _assigned("secret", ("secret", "key", "token"), rf"secret|(?=key){_KEYS}key|(?=token){_GRANTS}token", is_key),
    _assigned(
        "token",
        ("token", "credential", "pat", "wif"),
        r"(?<!page)(?<!page[_-])(?<!next[_-])(?<!sync[_-])(?:token|credential)|(?<![a-z])(?:pat|wif)",
        is_bearer,
    ),
)

RULES = (*_TOKENS, *_VENDORS, *_NEAR, *_SHORT, *_LOGINS, *_NAMED)
