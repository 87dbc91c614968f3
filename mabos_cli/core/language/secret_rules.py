"""The rules for secrets: by which words a text is worth a closer look, what a secret looks like there, and what is none.

Every pattern takes time linear in the text, whatever the text: a repetition is bounded, or runs over characters at
which no other attempt of the same pattern starts, and nothing is repeated inside a repetition that can match the same
characters in two ways.
"""

from mabos_cli.core.language.secret_shapes import (
    is_base32,
    is_basic,
    is_bearer,
    is_guess,
    is_key,
    is_login,
    is_number,
    is_password,
    is_session,
    is_token,
)
from mabos_cli.core.language.secret_tokens import Rule

_SLASH = r"(?:\\{0,3}/|%2F)"  # JSON may write \/
_WEB = f"(?:https?(?::|%3A){_SLASH}{_SLASH})?"
# Tokens that are known by what stands around them.
_NEAR = (
    Rule("private_key", ("kty",), r"\"(?:d|k|p|q|dp|dq|qi)\\?\"\s{0,2}:\s{0,2}\\?\"([\w-]{20,})", anywhere=True),
    Rule("private_key", ("private-lines",), r"Private-Lines: ?\d+\s+((?:[A-Za-z0-9+/=]{16,}\s+){1,64})"),
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
    Rule("azure_key", ("==",), r"(?<![A-Za-z0-9+/-])[A-Za-z0-9+/]{86}==", anywhere=True),
    Rule("cloud_token", ("atlasv1",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}", anywhere=True),
    Rule("monitoring_key", ("nral",), r"(?<![0-9a-f])[0-9a-f]{36}NRAL", anywhere=True),
    Rule("social_token", ("apa91b",), r"[\w-]{11}:APA91b[\w-]{100,}", anywhere=True),
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

_PIN_NAME = (
    r"(?i:(?:(?<![a-z])p(?:in|uk)|(?:(?<=door )|(?<=gate )|(?<=garage )|(?<=safe )|(?<=lock )|(?<=alarm )|(?<=entry )"
    r"|(?<=access )|(?<=unlock )|(?<=keypad )|(?<=building )|(?<=phone ))(?:code|combination))(?:[ -](?:code|number))?s?)"
)
_PIN_LINK = (
    r"(?:(?<=PIN)[ \t]{1,2}|(?<=PUK)[ \t]{1,2}|(?i:(?:[ ]?\([^)\n]{1,20}\))?(?:['’]s )?(?:[ \t]{0,2}[:=#][ \t]{0,2}|(?<=code)[ ]"
    r"|(?:[ ][a-z]{1,12}){0,6}[ ](?:is|was|to|now|ist|est|es)[ :]{1,2}))[\"'`]?)"
)
# Secrets of other forms than one long run: numbers, codes in groups, hashes of passwords.
_SHORT = (
    # A key of 32 bytes, as wallets have; so long are hashes of transactions too.
    Rule(
        "private_key",
        ("key", "signer", "deployer"),
        r"(?i:(?<!public[ _])key|signer|deployer)(?i:(?!hash|tx|block|public)[^\n]){0,40}?(0x[0-9a-fA-F]{64})(?![0-9a-fA-F])",
    ),
    Rule("private_key", ("0x",), r"(0x[0-9a-fA-F]{64})\W[^\n]{0,24}?(?i:deployer|private|signing|wallet) key"),
    # A passphrase of words is told from talk about one by its quotes.
    Rule(
        "password",
        ("passphrase",),
        r"(?i:passphrase)(?: is)?[ \t]{0,2}[:=]?[ \t]{0,2}[\"']((?:[A-Za-z]{2,14}[ -]){3,15}[A-Za-z]{2,14})[\"']",
        str.islower,
    ),
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
        "pin", ("pin", "puk", "code", "combination"), rf"{_PIN_NAME}{_PIN_LINK}(\d{{4,8}})(?![\w-]|[.:]\d)", is_number
    ),
    Rule(
        "pin",
        ("pin", "puk", "code"),
        rf"(?<![\w.-])(\d{{4,8}})(?: (?:is|as),?| -)(?: [a-z]{{1,8}}){{0,3}} {_PIN_NAME}",
        is_number,
        anywhere=True,
    ),
    Rule(
        "card_check",
        ("cvv", "cvc", "csc", "security code", "verification", "prüf", "cryptogramme"),
        r"(?i:cvv2?|cvc2?|csc|security code|verification (?:code|value|number)|prüf(?:nummer|ziffer)|cryptogramme)"
        r"(?i:(?: [a-z]{1,10}){0,5}?)[ \t\"']{0,3}(?:[:=]|is)?[ \t\"']{0,3}(\d{3,4})(?![\w-])",
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
        (" -p", " -a", " -w"),
        r"(?:sshpass|mysql|mongo|docker login|redis-cli|zip|7z|ldap|useradd|rdesktop)[^\n]{0,80}? -[pPaw] ?[\"']?([^\s\"'-][^\s\"']{4,255})",
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
        r"(?i:identified(?: with \S{1,40})? (?:by|as) {1,4}[\"']?|password {1,4}[\"'])([^\"'\s;]{4,256})",
        is_password,
    ),
    Rule(
        "password",
        (":5", ":6", ":*:"),  # as in .pgpass: host, port, database, user
        r":(?:\d{4,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:([^\s:\"']{6,256})(?![:\w])",
        is_password,
    ),
    # A name and a password, in one breath.
    Rule(
        "password",
        ("cred", "login", "user", "wifi", "zugang", "identifiant"),
        r"(?i:(?:cred(?:ential)?s?|login|wifi|zugang|zugangsdaten|identifiants?|user(?:name)?/[a-z]{2,10})s?"
        r"(?:[ \t](?:is|are|details|data|with|as))?[ \t]{0,2}[:=]?[ \t]{1,3})"
        r"[\"'`]?[\w.@+-]{2,60}[\"'`]?(?:[ \t]?/[ \t]?|:)[\"'`]?([^\s\"'`]{6,256})",
        is_password,
    ),
    Rule(
        "password",
        (" p:", " p=", " pass", " pw"),
        r"(?i:(?<![a-z])(?:u|user(?:name)?|login|account)[:= ]{1,2}\S{1,60}[ ,;/|]{1,4}(?:and )?(?:p|pw|pwd|pass)[:= ]{1,2})"
        r"([^\s\"']{6,256})",
        is_guess,
        anywhere=True,
    ),
    Rule(
        "password",
        ("auth", "cred", "login", "connect"),
        r"(?i:auth|cred(?:ential)?s?|login|connect(?:ion)?)\w{0,10}[\"']?\s{0,2}[=:(]{1,2}[^\n\"']{0,40}[\"'][\w.@-]{1,60}[\"'],"
        r"\s{0,2}[\"']([^\s\"']{6,256})[\"']",
        is_password,
    ),
    Rule("password", ("auth",), r"(?i:auth)\w{0,8}[\"']?[=:] ?[\"']?[\w.@-]{1,60}:([^\s\"'@/]{6,256})", is_password),
    Rule("password", ("add_user ", "net user "), r"(?:add_user|net user) \S{1,60} ([^\s\"'/]{6,256})", is_password),
    Rule(
        "password",
        ("sudo -s", "--stdin"),
        r"echo [\"']?([^\s\"'|]{6,256})[\"']? ?\| ?(?:sudo -S|passwd)",
        is_password,
        anywhere=True,
    ),
    Rule("password", (" /p:",), r" /p:([^\s\"']{6,256})", is_password),
    Rule(
        "password",
        (" -u ",),
        r"(?:smbclient|lftp|ftp|rpcclient|winexe)[^\n]{0,80}? -[uU] ?[\w.@/\\-]{1,60}[%,]([^\s\"']{6,256})",
        is_password,
        anywhere=True,
    ),
    Rule(
        "session_cookie",
        ("sess", "sid=", "aspxauth=", "cookie"),
        r"(?i:cookie[^\n]{0,200}?(?:sess|sid|auth|token)[\w.-]{0,20}|sess(?:ion)?(?:[._-]?(?:id|token|key))?|sid|aspxauth)="
        r"[\"']?(?:s%3A)?([\w.%+/-]{20,512})",
        is_session,
    ),
)

RULES = (*_NEAR, *_SHORT, *_LOGINS)
