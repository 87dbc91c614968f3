"""Whether a value that stands where a secret would stand is one, or a placeholder, a name, a word."""

import re
from itertools import pairwise

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
    """Whether a value of a known form is filled with something."""
    return len(set(value)) >= 8 and not re.search(_FILLER, value)


def is_password(value: str) -> bool:
    """Whether a value given as a password is one: it mixes letters with digits or signs, and is no name or rule.

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
    """Whether a value in the place of a password in an address is one: anything but a placeholder."""
    return len(value) >= 3 and not value.isdigit() and not _is_stand_in(value)


def is_key(value: str) -> bool:
    """Whether a value given as a key or a secret is one: long enough, and somewhere it looks drawn at random.

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
    """Whether a value that is only called a token is one: hashes and UUIDs are called so too, and are left alone."""
    return len(value) >= 16 and is_key(value) and not re.fullmatch(_HASH, value)


def is_basic(value: str) -> bool:
    """Whether the value of basic authentication holds a name and a password."""
    from base64 import b64decode

    try:
        name, colon, password = b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8").partition(":")
    except ValueError:
        return False
    return bool(colon) and (name + password).isprintable() and (is_login(password) or is_token(name))


def _is_stand_in(value: str) -> bool:
    """Whether a value only stands for a secret."""
    if value.lower() in _PLAIN or re.search(_FILLER, value):
        return True
    return bool(re.match(_REFERENCE, value)) and not _has_mixed(value)


def _has_mixed(value: str) -> bool:
    """Whether some stretch of letters and digits looks drawn at random."""
    return any(map(_is_mixed, re.split(r"[^A-Za-z0-9]+", value)))


def _is_mixed(part: str) -> bool:
    """Whether letters and digits, or small and large letters, alternate as they do in no word or name."""
    if len(part) < 8:
        return False
    shape = [1 if c.isdigit() else 2 if c.isupper() else 3 for c in part]
    if 1 in shape:
        return sum(a != b for a, b in pairwise(shape)) >= 4
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+(?![a-z])", part)
    return len(part) >= 12 and 2 in shape and 3 in shape and len(part) < 3.5 * len(words)
