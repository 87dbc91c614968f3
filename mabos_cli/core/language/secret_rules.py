"""The rules for secrets that are known by what stands around them: addresses, headers, command lines, numbers with a name.

Every pattern takes time linear in the text, whatever the text: a repetition is bounded, or runs over characters at
which no other attempt of the same pattern starts, and nothing is repeated inside a repetition that can match the same
characters in two ways.
"""

from mabos_cli.core.language.secret_shapes import (
    Rule,
    is_base32,
    is_basic,
    is_bearer,
    is_guess,
    is_key,
    is_login,
    is_number,
    is_password,
    is_secret,
    is_session,
)

_SLASH = r"(?:\\{0,3}/|%2F)"  # JSON may write \/
_WEB = f"(?:https?(?::|%3A){_SLASH}{_SLASH})?"
# Keys and tokens.
_LONG = (
    Rule("private_key", ("kty",), r"\"(?:d|k|p|q|dp|dq|qi)\\?\"\s{0,2}:\s{0,2}\\?\"([\w-]{20,})", anywhere=True),
    Rule("private_key", ("private-lines",), r"Private-Lines: ?\d+\s+((?:[A-Za-z0-9+/=]{16,}\s+){1,64})"),
    # A key of 32 bytes, as wallets have; so long are hashes of transactions too.
    Rule(
        "private_key",
        ("deployer", "signer", "signing", "private", "wallet", "hex key", "eth key", "validator", "accounts"),
        r"(?i:(?:deployer|sign(?:er|ing)|(?:private|hex|eth|validator)[ _]key|wallet)(?:(?!hash|tx|block|public)[^\n]){0,80}?|accounts\W{1,8})"
        r"(?<!\w)((?:0x)?[0-9a-fA-F]{64})(?!\w)",
    ),
    Rule("private_key", ("0x",), r"(0x[0-9a-fA-F]{64})\W[^\n]{0,24}?(?i:deployer|private|signing|wallet) key"),
    Rule(
        "aws_secret_key",
        ("akia", "asia"),
        r"A[KS]IA[A-Z0-9]{16}\W{1,20}?([A-Za-z0-9/+]{40})(?![\w/+])",
    ),
    Rule(
        "azure_key",
        ("accountkey", "sharedaccess", "sig"),
        r"(?i:AccountKey|SharedAccessKey|SharedAccessSignature|(?<![a-z])sig(?:nature)?)\s{0,2}(?:=|%3D)\s{0,2}"
        r"((?:[A-Za-z0-9+/]|%2[BbFf]){32,}(?:=|%3[Dd]){0,2})",
    ),
    Rule(
        "mail_key",
        ("mailgun", "mailchimp", "-us"),
        r"(?<![0-9A-Za-z-])[0-9a-f]{32}-(?:[0-9a-f]{8}-[0-9a-f]{8}|us\d{1,2})(?![0-9A-Za-z-])",
        anywhere=True,
    ),
    Rule("telegram_token", (":aa", "%3aa"), r"(?<!\d)\d{8,10}(?::|%3A)AA[\w-]{30,}", anywhere=True),
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
    Rule("authorization", ("basic",), r"(?i:basic)(?:\s|%20|\+){1,3}([A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    # As in the settings of Docker and npm.
    Rule(
        "authorization",
        ("auth",),
        r"auth(?:\\?[\"']\s{0,2}:\s{0,2}\\?[\"']| ?= ?\"?)([A-Za-z0-9+/]{8,}+={0,2})",
        is_basic,
    ),
    Rule(
        "authorization",
        ("bearer", "authorization"),
        r"(?i:bearer|authorization\\?[\"']?\s{0,2}[:=]\s{0,2}\\?[\"']?(?:[a-z]{3,7})?)(?:\s|%20|\+){1,3}[\"']?([\w.~+/-]{16,}={0,2})",
        is_key,
    ),
    Rule(
        "session_cookie",
        ("sess", "sid=", "aspxauth=", "cookie"),
        r"(?i:cookie[^\n]{0,200}?(?:sess|sid|auth|token)[\w.-]{0,20}|sess(?:ion)?(?:[._-]?(?:id|token|key))?|sid|aspxauth)="
        r"[\"']?(?:s%3A)?([\w.%+/-]{20,512})",
        is_session,
    ),
    Rule(
        "secret",
        ("hmac", "jwt.", "fernet("),
        r"(?i:hmac|jwt\.|fernet\()[^\n\"']{0,40}(?:[\"']sha\d{1,3}[\"'], ?)?[\"']([^\s\"']{8,256})[\"']",
        is_secret,
    ),
    Rule(
        "otp_secret",
        ("2fa", "otp", "mfa", "authenticator", "setup key", " code"),
        r"(?i:2fa|otp|mfa|authenticator|setup key| code)[^\n]{0,80}?(?<![A-Za-z0-9])"
        r"([A-Z2-7]{16,64}|[a-z2-7]{16,64}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4}|(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4})"
        r"(?![A-Za-z0-9])",
        is_base32,
    ),
    Rule("password_hash", ("$",), r"\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2id?|scrypt)\$[\w./$=,+]{16,}"),
    Rule("password_hash", ("{sha", "{ssha"), r"\{S?SHA\d{0,3}\}[A-Za-z0-9+/]{20,}={0,2}"),
)

_PLACES = "door gate garage safe lock alarm entry access unlock keypad building phone verification confirmation login security".split()
_PIN_NAME = (
    rf"(?i:(?:(?<![a-z])(?:pin|puk|pass ?code)|(?:{'|'.join(_PLACES)})(?:[ ][a-z]{{1,10}})?[ ](?:code|combination)|combination)"
    r"(?:[ -](?:code|number))?s?)"
)
_PIN_LINK = (
    r"(?:[ \t]{1,2}|(?i:(?:[ ]?\([^)\n]{1,20}\))?(?:['’]s )?(?:[ \t]{0,2}[:=#][ \t]{0,2}"
    r"|(?:[ ][a-z]{1,12}){0,6}[ ](?:is|was|to|now|ist|est|es|lautet|with)[ :]{1,2}))[\"'`]?)"
)
_NUMBERS = (
    Rule(
        "pin",
        ("pin", "puk", "pass", "combination", *_PLACES),
        rf"{_PIN_NAME}{_PIN_LINK}(\d{{4,8}})(?![\w-]|[.:]\d)",
        is_number,
    ),
    Rule("pin", (" code",), r"(?<![\w.])(?:[A-Z]-)?(\d{4,8}) is your [a-zA-Z ]{0,30}code", is_number, anywhere=True),
    Rule(
        "card_check",
        ("cvv", "cvc", "csc", "security code", "verification", "prüf", "cryptogramme"),
        r"(?i:cvv2?|cvc2?|csc|security code|verification (?:code|value|number)|prüf(?:nummer|ziffer)|cryptogramme)"
        r"(?i:(?: [a-z]{1,10}){0,5}?)[ \t\"']{0,3}(?:[:=]|is)?[ \t\"']{0,3}(\d{3,4})(?![\w-])",
        is_number,
    ),
)

# Names and passwords in addresses and command lines.
_LOGINS = (
    Rule("url_password", ("://", r":\/\/"), r":\\?/\\?/[^\s:/@\"'<>`]{0,128}:([^\s/\"'<>`]{1,256})@", is_login),
    Rule("url_password", ("://", r":\/\/"), r":\\?/\\?/([^\s:/@\"'<>`]{20,256})(?::(?:x-oauth-basic)?)?@", is_bearer),
    Rule("password", ("jdbc:",), r"jdbc:[\w:]{3,40}:[\w$]{1,60}/([^\s@\"'/]{3,256})@", is_login),
    Rule("password", ("wifi:",), r"(?i:wifi:)[^\n]{0,80}?P:([^;\n]{4,256})", is_login),
    # A passphrase of words is told from talk about one by its quotes.
    Rule(
        "password",
        ("passphrase",),
        r"(?i:passphrase)(?: is)?[ \t]{0,2}[:=]?[ \t]{0,2}[\"']((?:[A-Za-z]{2,14}[ -]){3,15}[A-Za-z]{2,14})[\"']",
        str.islower,
    ),
    Rule(
        "password",
        (" -u", " -a", "'-u", "--user", "--proxy-user", "--auth"),
        r"(?:[ ']-[uUa]|(?<=[ '])--(?:proxy-)?user|(?<=[ '])--auth)[ =]?[\"']?[^\s:\"'=/%,]{1,100}[:%,]([^\s\"']{3,256})",
        is_password,
    ),
    Rule(
        "password",
        (" -p", " -a", " -w", " -k", " -b"),
        r"(?:sshpass|mysql|mongo|mosquitto| login|redis-cli|zip|7z|ldap|useradd|rdesktop|openssl|htpasswd)[^\n]{0,80}?"
        r"(?: -[pP] ?| -[awk] | -\w{0,4}b\w{0,4} \S{1,100} \S{1,100} )[\"']?([^\s\"'-][^\s\"']{4,255})",
        is_password,
        anywhere=True,
    ),
    Rule(
        "password",
        ("chpasswd", "sudo -s", "-stdin", "secret create"),
        r"echo (?:-n )?[\"']?(?:[\w-]{1,40}:)?([^\s\"'|:]{6,256})[\"']? ?\|[^\n|]{0,60}?(?:sudo -S|passwd|-stdin|secret create)",
        is_password,
        anywhere=True,
    ),
    Rule(
        "password",
        ("/user:", " /p:", "pass:", "add_user", "net user", "change_password", "user-pass"),
        r"(?:(?:/user:|add_user |net user |change_password |user-pass )\S{1,100} | /p:|pass:)([^\s\"'/]{4,256})",
        is_password,
    ),
    Rule("password", ("community",), r"community ([^\s\"']{6,256})", is_password),
    Rule(
        "password",
        (":5", ":6", ":*:"),  # as in .pgpass: host, port, database, user
        r":(?:\d{4,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:([^\s:\"']{6,256})(?![:\w])",
        is_password,
    ),
    # A name and a password, in one breath.
    Rule(
        "password",
        ("cred", "login", "user", "wifi", "zugang", "identifiant", "account"),
        r"(?i:(?:cred(?:ential)?s?|login|wifi|zugang(?:sdaten)?|identifiants?|account|user(?:name)?/[a-z]{2,10})s?"
        r"(?:(?:[ \t](?:is|are|details|data|with|as|still)){0,2}[ \t]{0,2}[:=]?[ \t]{1,3}|(?:[ \t][\w-]{1,12}){1,4}:[ \t](?=\S{1,60} / )))"
        r"[\"'`]?[\w.@+-]{2,60}[\"'`]?(?:[ \t]?/[ \t]?|:)[\"'`]?([^\s\"'`]{6,256})",
        is_password,
    ),
    Rule(
        "password",
        (" p:", " p=", " pass "),
        r"(?i:(?<![a-z])(?:u|user(?:name)?|login|account)[:= ]{1,2}\S{1,60}[ ,;/|]{1,4}(?:and )?p(?:ass)?[:= ]{1,2})([^\s\"']{6,256})",
        is_guess,
        anywhere=True,
    ),
    Rule(
        "password",
        ("log", "sign in", "signed in", "unlock"),
        r"(?i:(?:log(?:ged)?|sign(?:ed)?)[ -]?in|unlock\w{0,3})(?: [\w@.'-]{1,30}){0,5}? (?i:with|using|and|mit) "
        r"[\"'`]?([^\s\"'`,]{8,256}?)[\"'`]?[.,;!]?(?!\S)",
        is_password,
    ),
    Rule(
        "password",
        ("auth", "cred", "login", "connect"),
        r"(?i:auth|cred(?:ential)?s?|login|connect(?:ion)?)\w{0,10}[\"']?\s{0,2}[=:(]{1,2}[^\n]{0,80}?,\s{0,2}[\"']([^\s\"']{6,256})[\"']"
        r"\s{0,2}[,)]",
        is_password,
    ),
)

RULES = (*_LONG, *_NUMBERS, *_LOGINS)
