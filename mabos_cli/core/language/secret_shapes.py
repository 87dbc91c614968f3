"""Judges values by their shape: whether one looks like a password, a key, a card number or only stands for one.

Every pattern takes time linear in the text, whatever the text.
"""

import re
from collections.abc import Iterable

from mabos_cli.core.language.patterns import compiled

# The word for a password in the languages that people write notes in, as far as it is not close to the English one.
PASSWORDS = (
    "kennwort,lösenord,wachtwoord,hasło,heslo,salasana,adgangskode,jelszó,lozinka,geslo,contraseña,contrasena,clave,senha"
    ",parola,slaptažodis,parool,пароль,κωδικός,şifre,mật khẩu,kata sandi,密码,密碼,口令,パスワード,비밀번호,סיסמה,كلمة المرور"
    ",पासवर्ड,รหัสผ่าน"
).split(",")
# The same for keys and tokens.
KEYS = "schlüssel,clé,chave,llave,chiave,sleutel,klucz,nyckel,ключ,токен,密钥,密鑰,秘钥,令牌,キー,トークン,토큰".split(
    ","
)
# What a key must be called for a plain hash or UUID behind it to be taken for one.
KEY_NAMES = (
    "api access private encryption signing auth master account client service shared app application webhook deploy license"
    " admin sdk server routing integration unseal secret wallet fernet setup recovery priv global consumer subscription aes"
).split()
# What a token must be called for the same.
GRANTS = "access auth api refresh bot personal deploy security admin private oauth oauth2 server secret".split()


def after(words: Iterable[str]) -> str:
    """Returns a pattern for the place behind one of the words, joined or apart."""
    return "(?:" + "|".join(rf"(?<={word})|(?<={word}[_. -])" for word in words) + ")"


# What people write where a secret would be. Words this long do not turn up in random text.
_FILLERS = (
    "example placeholder changeme changethis changeit replaceme replacethis replacewith yourown yourapi yourkey yourtoken"
    " yoursecret yourpass goeshere redacted foobar xxxx *** ... …"
).split()
_FILLER = r"(?:my|your|the|some|insert|enter|dummy|sample|fake|test)[_-]|.*[_-]your[_-]|.*([^\W_])\1{6}"
# The names of algorithms and formats: argon2id, SHA-256, utf8, p256.
_ALGORITHM = r"(?:argon|sha|hmac|pbkdf|scrypt|bcrypt|aes|rsa|md|ed|curve|utf|oauth|base|ipv|tls|rs|hs|es|p)[-_]?\d{1,5}[a-z]{0,4}"
# What refers to a secret without holding it: a variable, a template, a call, a type, an address.
_REFERENCE = (
    r"[$%](?:[A-Za-z_]|[({])|\$\d$|\{\{|\{[\w.]*(?:![rsa])?(?:\}|$)|<|%\(|@\w*\(|[A-Za-z_][\w.]*[\[(]|(?:process|os|env|self|this|config|settings)\."
    r"|(?:env|vault|arn|ref|file|secretref|ssm):|!!?[a-z]+$|[a-z][a-z0-9+.-]*://|\.{0,2}/[\w.-]*(?:/[\w.-]+)+/?$|~/"
)
# Words, short numbers, and words that end in a short number, joined: a name of something. No step is taken back, or a
# long row of separators would take forever.
_WORDS = r"(?:[A-Z]?[a-z]++|[A-Z]++)?+\d{0,4}+"
_NAME = rf"(?:\d{{1,4}}[a-z]{{1,5}}|{_WORDS})(?:[_.:/@|-]++{_WORDS})*+"
_UUID = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_HASH = rf"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)|{_UUID}(?:/\d+)?|(?:[A-Za-z0-9]{{1,16}}-)+[0-9a-f]{{32,}}|(?i:sha\d+|md5|h1)[:-].*"
_WORDS_AND_NUMBER = r"[A-Za-z]{4,}\d{1,4}|[a-z]{3,}([-_.])[a-z]{3,}\1[a-z]{3,}\1\d{1,4}|[a-z]{5,}_\d{4}"  # letmein_2024
# What a server keeps in place of a password cannot be used as one.
_DIGEST = r"(?:pbkdf2|scrypt|bcrypt|argon2\w*|sha\d+|md5)[:$-].*|\$(?:[1-7]|2[abxy]|y|argon2\w*|scrypt)\$.*"
_SIGNS = "!@#$%&*+=?~^"
# What stands near the word password and is none: an address, a path, a pair, a date, a version, an id of this project.
_PLACE = (
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}|[a-z][\w+.-]*://.*|[~.]{0,2}/.*|--?[a-z].*|[a-z_][a-z0-9_]*=.*"
    r"|[A-Za-z_]\w*=[^0-9=][^0-9]*|.*[\\{}`'].*|.*\d{4}-\d\d-\d\d.*|.*[0-9A-F]{2}(?::[0-9A-F]{2}){3}.*|[\w$.]+\(.*"
    r"|v?\d+(?:\.\d+)+.*|[A-Z]-\d+-[0-9a-f]+|[A-Za-z]+-\d+|.*[(\[{].*[)\]}].{0,2}|[\w.-]+\.[a-z]{2,4}"
)
# The first digits and lengths of Visa, Mastercard, American Express, Discover, JCB, Diners and UnionPay.
_ISSUERS = (
    r"4\d{12}(?:\d{3})?|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:6011|64[4-9]\d|65\d\d|35(?:2[89]|[3-8]\d)|62\d\d)\d{12}|3(?:0[0-5]|[689]\d)\d{11}"
)
_PLAIN = frozenset(
    "password passwd secret pass pwd admin root user test guest demo letmein none null true false string hidden masked"
    " postgres mysql mariadb redis rabbitmq minioadmin neo4j".split()
)


def _is_filler(value: str) -> bool:
    """Returns whether a value is what people write where a secret would be."""
    plain = value.lower()
    joined = plain.replace("_", "").replace("-", "")
    return any(word in joined for word in _FILLERS) or bool(compiled(_FILLER).match(plain))


def is_token(value: str) -> bool:
    """Returns whether a value of a known form is filled with something."""
    return len(set(value)) >= 8 and not _is_filler(value)


def is_password(value: str) -> bool:
    """Returns whether a value given as a password is one: it mixes letters with digits or signs, and is no name or rule.

    >>> [is_password(value) for value in ("hunter2x", "changeme", "${DB_PASS}", "$2b$12$KIX/uDq1", "SHA-256", "Tr0ub4dor&3")]
    [True, False, False, False, False, True]
    """
    if not 6 <= len(value) <= 256 or " " in value or compiled(_DIGEST).match(value):
        return False
    if compiled("(?:[a-z]{4}-){3}[a-z]{4}").fullmatch(value):  # as hosts make them up for programs
        return True
    letters = "".join(compiled("[A-Za-z]+").findall(value))
    digits = "".join(compiled("[0-9]+").findall(value))
    if not letters or not (digits or compiled(f"[{_SIGNS}]").search(value)):
        fits = _is_mixed(letters)
    elif compiled(r"\w*[Pp]assword\d{0,4}|\W{0,3}[A-Za-z]+(?:-[a-z]+)*\W{0,2}").fullmatch(value):
        fits = bool(compiled("[A-Z][a-z]{7,}!").fullmatch(value))
    elif not compiled(_NAME).fullmatch(value):
        fits = True
    else:
        # People make passwords of words and numbers: Harbor-81-lake, hunter2, ferry-comet-mango-17. So do they names,
        # shorter or plainer ones.
        mixed = len(value) >= 10 and len(digits) >= 2 and not letters.islower() and not letters.isupper()
        fits = mixed or bool(compiled(_WORDS_AND_NUMBER).fullmatch(value))
    return fits and not _is_stand_in(value)


def is_strong(value: str) -> bool:
    """Returns whether a value is a password wherever it stands near the word: long, with three kinds of characters.

    >>> [is_strong(value) for value in ("Sunset2017$", "P3pp3r_392", "web-03", "2027-07-24", "ada@example.com", "cost=12")]
    [True, True, False, False, False, False]
    """
    return len(value) >= 8 and is_password(value) and (_count_kinds(value) >= 3 or _has_mixed(value))


def is_guess(value: str) -> bool:
    """Returns whether a value right behind the word password is one, with nothing but a space between.

    >>> [is_guess(value) for value in ("bruno9320", "argon2", "river-ferry-walnut-91", "reset2x")]
    [True, False, True, False]
    """
    return len(value) >= 8 and is_password(value)


def is_place(value: str) -> bool:
    """Returns whether a value that stands near the word password is something else: a date, an address, a call, an id."""
    return bool(compiled(_PLACE).fullmatch(value))


def is_random(value: str) -> bool:
    """Returns whether a value is long and drawn at random, and neither a hash nor an id."""
    return is_bearer(value) and len(value) >= 20


def is_secret(value: str) -> bool:
    """Returns whether a value that is called a secret is one: a key, or a password that nobody would take for a name."""
    return is_key(value) or (is_strong(value) and "/" not in value)


def is_given(value: str) -> bool:
    """Returns whether the value of a variable for secrets is one: a key or any password."""
    return is_key(value) or is_password(value)


def is_issued(value: str) -> bool:
    """Returns whether a value of the form of a token is one: after the letters of who issued it, it is random."""
    return not compiled("(?i:sha).*|.*[_-](?:[0-9a-f]+|[0-9A-F]+)").fullmatch(value) and is_key(value[-30:])


def is_base32(value: str) -> bool:
    """Returns whether a value is the secret of a two-factor code: letters and digits of base32, in either case."""
    plain = value.replace(" ", "").replace("-", "")
    return len(plain) >= 16 and not plain.isalpha() and not plain.isdigit() and len(set(plain)) >= 8


def is_session(value: str) -> bool:
    """Returns whether the value of a cookie is the key to a session: any random one but a UUID, which logs are full of."""
    return is_key(value) and not compiled(_UUID).fullmatch(value)


def is_number(value: str) -> bool:
    """Returns whether a value is a number that opens something: a PIN or the check number of a card."""
    return 3 <= len(value) <= 8 and value.isdigit()


def is_card(value: str) -> bool:
    """Returns whether digits are the number of a payment card: its issuer's first digits, its length, its check digit.

    >>> [is_card(value) for value in ("4111 1111 1111 1111", "4111 1111 1111 1112", "3530111333300000", "9999000011112222")]
    [True, False, True, False]
    """
    digits = re.sub("[ -]", "", value)
    if not compiled(_ISSUERS).fullmatch(digits) or len(set(digits)) < 2:
        return False
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def is_login(value: str) -> bool:
    """Returns whether a value in the place of a password in an address is one: anything but a placeholder."""
    return len(value) >= 3 and not value.isdigit() and not _is_stand_in(value)


def is_key(value: str) -> bool:
    """Returns whether a value given as a key or a secret is one: long enough, and somewhere it looks drawn at random.

    >>> [is_key(value) for value in ("9f8b2c7d1e6a4b3c", "prod-signing-key-2", "OPENAI_API_KEY", "YOUR_API_KEY")]
    [True, False, False, False]
    """
    if len(value) < 10 or " " in value or len(set(value)) < 6:
        return False
    kinds = _count_kinds(value)
    random = kinds == 4 or _has_mixed(value) or bool(compiled(_UUID).fullmatch(value))
    if compiled("[A-Z0-9]{2,6}(?:-[A-Z0-9]{4,6}){3,7}").fullmatch(value):  # in groups, as the keys of licenses
        random = _is_mixed(value.replace("-", ""))
    plainer = kinds == 3 and len(value) >= 24 and not compiled(_NAME).fullmatch(value)
    return (random or plainer) and not _is_stand_in(value)


def ends_random(value: str) -> bool:
    """Returns whether the end of a value looks drawn at random, whatever it begins with."""
    return _has_mixed(value[-40:])


def _count_kinds(value: str) -> int:
    """Returns how many of the four kinds of characters a value has: digits, capitals, small letters, signs."""
    return sum(bool(compiled(kind).search(value)) for kind in ("[0-9]", "[A-Z]", "[a-z]", f"[{_SIGNS}]"))


def is_bearer(value: str) -> bool:
    """Returns whether a value that is only called a token is one: hashes and UUIDs are called so too, and are left alone."""
    return len(value) >= 16 and is_key(value) and not compiled(_HASH).fullmatch(value)


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
    if value.lower() in _PLAIN or _is_filler(value) or compiled(f"(?i:{_ALGORITHM})").fullmatch(value):
        return True
    return bool(compiled(_REFERENCE).match(value)) and not _has_mixed(value)


def _has_mixed(value: str) -> bool:
    """Returns whether some stretch of letters and digits looks drawn at random."""
    return any(map(_is_mixed, re.split(r"[^A-Za-z0-9]+", value)))


def _is_mixed(part: str) -> bool:
    """Returns whether letters and digits, or small and large letters, alternate as they do in no word or name."""
    if len(part) < 8:
        return False
    if not part.isalpha():
        return len(compiled("[0-9]+|[A-Z]?[a-z]+|[A-Z]+").findall(part)) > 4
    if len(part) < 12 or part.isupper() or part.islower():
        return False
    return len(part) < 3.5 * len(compiled("[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall(part))


is_lower = str.islower
