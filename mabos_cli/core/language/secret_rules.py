"""The rules for secrets: by which words a text is worth a closer look, what a secret looks like there, and what is none.

Every pattern takes time linear in the text, whatever the text: a repetition is bounded, or runs over characters at
which no other attempt of the same pattern starts, and nothing is repeated inside a repetition that can match the same
characters in two ways.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

# What people write where a secret would be. Words this long do not turn up in random text.
_FILLER = (
    r"(?i)example|placeholder|change[_-]?(?:me|this|it)|replace[_-]?(?:me|this|with)|your[_-]?(?:own|api|key|token|secret|pass)"
    r"|^(?:my|your|the|some|insert|enter|dummy|sample|fake|test)[_-]|goes[_-]?here|redacted|foobar|xxxx|\*\*\*|\.\.\.|…|([^\W_])\1{6}"
)
# What refers to a secret without holding it: a variable, a template, a call, a type, an address.
_REFERENCE = (
    r"[$%](?:[A-Za-z_]|[({])|\$\d$|\{\{|\{[\w.]*\}|<|%\(|@\w*\(|[A-Za-z_][\w.]*[\[(]|(?:process|os|env|self|this|config|settings)\."
    r"|(?:env|vault|arn|ref|file|secretref|ssm):|!!?[a-z]+$|[a-z][a-z0-9+.-]*://|\.{0,2}/[\w.-]*(?:/[\w.-]+)+/?$|~/"
)
# Words, short numbers, and words that end in a short number, joined: a name of something. No step is taken back, or a
# long row of separators would take forever.
_WORDS = r"(?:[A-Z]?[a-z]++|[A-Z]++)?+\d{0,4}+"
_NAME = rf"(?:\d{{1,4}}[a-z]{{1,5}}|{_WORDS})(?:[_.:/@|-]++{_WORDS})*+"
_UUID = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_HASH = f"[0-9a-f]+|[0-9A-F]+|{_UUID}"
_SIGNS = "!@#$%^&*+=?~"
_PLAIN = frozenset(
    "password passwd secret pass pwd admin root user test guest demo letmein none null true false string hidden masked"
    " postgres mysql mariadb redis rabbitmq minioadmin neo4j".split()
)


def is_token(value: str) -> bool:
    """Returns whether a value of a known form is filled with something."""
    return len(set(value)) >= 8 and not re.search(_FILLER, value)


def is_password(value: str) -> bool:
    """Returns whether a value given as a password is one: it mixes letters with digits or signs, and is no name or
    rule.

    >>> [is_password(value) for value in ("hunter2x", "changeme", "${DB_PASS}", "form.password", "SHA-256", "Tr0ub4dor&3")]
    [True, False, False, False, False, True]
    """
    if not 6 <= len(value) <= 256 or " " in value or _is_stand_in(value):
        return False
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    signs = sum(map(value.count, _SIGNS))
    if not letters or not digits + signs:
        return len(value) >= 20 and _is_mixed(value)
    if re.fullmatch(r"\w*[Pp]assword\d?", value):
        return False
    if not re.fullmatch(_NAME, value):
        return True
    # People make passwords of words and numbers: Harbor-81-lake, hunter2. So do they names, shorter or plainer ones.
    if len(value) >= 10 and digits >= 2 and re.search("[a-z]", value) and re.search("[A-Z]", value):
        return True
    return bool(re.fullmatch(r"[A-Za-z]{4,}\d{1,4}", value)) and not re.match("(?i)sha|base|utf|oauth", value)


def is_login(value: str) -> bool:
    """Returns whether a value in the place of a password in an address is one: anything but a placeholder."""
    return len(value) >= 3 and not value.isdigit() and not _is_stand_in(value)


def is_key(value: str) -> bool:
    """Returns whether a value given as a key or a secret is one: long enough, and somewhere it looks drawn at random.

    >>> [is_key(value) for value in ("9f8b2c7d1e6a4b3c", "prod-signing-key-2", "OPENAI_API_KEY", "YOUR_API_KEY")]
    [True, False, False, False]
    """
    if len(value) < 10 or " " in value or _is_stand_in(value) or len(set(value)) < 6:
        return False
    if _has_mixed(value) or re.fullmatch(_UUID, value):
        return True
    tests = (str.isdigit, str.isupper, str.islower, _SIGNS.__contains__)
    return all(any(map(test, value)) for test in tests)


def is_bearer(value: str) -> bool:
    """Returns whether a value that is only called a token is one: hashes and UUIDs are called so too, and are left
    alone."""
    return len(value) >= 16 and is_key(value) and not re.fullmatch(_HASH, value)


def is_basic(value: str) -> bool:
    """Returns whether the value of basic authentication holds a name and a password."""
    from base64 import b64decode

    try:
        name, colon, password = b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8").partition(":")
    except ValueError:
        return False
    return bool(colon) and (name + password).isprintable() and (is_login(password) or is_token(name))


def _is_stand_in(value: str) -> bool:
    """Returns whether a value only stands for a secret."""
    if value.lower() in _PLAIN or re.search(_FILLER, value):
        return True
    return bool(re.match(_REFERENCE, value)) and not _has_mixed(value)


def _has_mixed(value: str) -> bool:
    """Returns whether some stretch of letters and digits looks drawn at random."""
    return any(map(_is_mixed, re.split(r"[^A-Za-z0-9]+", value)))


def _is_mixed(part: str) -> bool:
    """Returns whether letters and digits, or small and large letters, alternate as they do in no word or name."""
    if len(part) < 8:
        return False
    shape = [1 if c.isdigit() else 2 if c.isupper() else 3 for c in part]
    if 1 in shape:
        return sum(a != b for a, b in pairwise(shape)) >= 4
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+(?![a-z])", part)
    return len(part) >= 12 and 2 in shape and 3 in shape and len(part) < 3.5 * len(words)


class Rule(NamedTuple):
    """One way to find secrets of a kind. The secret is the group of the pattern that matched, or else all of it."""

    kind: str
    keys: tuple[str, ...]  # in lower case; the pattern starts at one of them
    pattern: str
    judge: Callable[[str], bool] = is_token
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
    return Rule(kind, tuple(keys.split()), f"{_EDGE}(?:{pattern})", judge)


_TOKENS = (
    _token("aws_access_key", "akia asia abia acca", rf"A(?:KI|SI|BI|CC)A[A-Z0-9]{{16}}{_END}"),
    _token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[opsur]_[A-Za-z0-9]{30,}"),
    _token("github_token", "github_pat_", r"github_pat_\w{30,}"),
    _token("gitlab_token", "gl", r"gl(?:pat|dt|rt|ft|cbt|ptt|soat|agent|oas|imt)-[\w.-]{20,}"),
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
    Rule("jwt", ("eyj",), rf"{_RUN_EDGE}eyJ[\w-]{{8,}}+\.eyJ[\w-]{{8,}}+(?:\.[\w-]+)*+"),
)

_SLASH = r"(?:\\{0,3}/|%2F)"  # JSON may write \/
_WEB = f"(?:https?(?::|%3A){_SLASH}{_SLASH})?"
# Tokens that are known by what stands around them.
_NEAR = (
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
    Rule("npm_token", ("_auth",), r"_auth(?:Token)?[ \t]{0,2}=[ \t]{0,2}\"?([^\s\"$]{16,})"),
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
        (),
        r"[MNO](?:(?<![\w-].)|(?<=\\[nrt].)|(?<=%[0-9A-F]{2}.)|(?<=[0-9]m.))[\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,}",
        is_key,
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
        is_key,
        anywhere=True,
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
        ("sshpass", "mysql", "docker login"),
        r"[^\n]{6,80}? -p ?[\"']?([^\s\"'-][^\s\"']{4,255})",
        is_password,
    ),
)

# name = value, in the ways of .env files, YAML, JSON (also inside strings), XML, queries, options and plain words.
_QUOTE = r"\\{0,3}[\"'`]"
_IS = (
    rf"(?:(?:{_QUOTE})?\]?[ \t]{{0,8}}(?::[ \t]?[A-Za-z][\w\[\].| ]{{0,20}}?(?=[ \t]?=[^=]))?[ \t]?"
    rf"(?:={{1,3}}>?|:=?(?!/)|->|>|%3[ADad]|\\u003[adAD])(?:[ \t]|%2[027]){{0,8}}"
    rf"|(?:{_QUOTE})?,?(?:\s|\\n){{1,24}}(?:{_QUOTE})?value(?:{_QUOTE})?[ \t]{{0,4}}[:=][ \t]{{0,4}}"
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


def _after(words: str) -> str:
    """Returns a pattern for the place behind one of the words, joined or apart."""
    return "(?:" + "|".join(rf"(?<={word})|(?<={word}[_. -])" for word in words.split()) + ")"


def _assigned(kind: str, keys: str, names: str, judge: Callable[[str], bool]) -> Rule:
    """Returns a rule for values that are secret because of the name they are given to."""
    pattern = rf"(?i:({_OPTION})?(?:{names}){_TAIL}(?:{_IS}|(?(1)[ \t]{{1,4}}|(?!)))){_VALUE}"
    return Rule(kind, tuple(keys.split()), pattern, judge)


_KEYS = _after(
    "api access private encryption signing auth master account client service shared app application webhook deploy license"
)
_GRANTS = _after("access auth api refresh bot personal deploy security admin private oauth oauth2")
_NAMED = (
    _assigned(
        "password",
        "pass pw",
        r"passwor[dt]|passwd|passphrase|passcode|(?<![a-z])(?:pwd|pass|pw)|(?-i:(?<=[a-z])(?:Pass|Pwd))",
        is_password,
    ),
    _assigned("secret", "secret key token", rf"secret|{_KEYS}key|{_GRANTS}token", is_key),
    _assigned(
        "token", "token credential", r"(?<!page)(?<!page[_-])(?<!next[_-])(?<!sync[_-])(?:token|credential)", is_bearer
    ),
)

RULES = (*_TOKENS, *_NEAR, *_LOGINS, *_NAMED)
