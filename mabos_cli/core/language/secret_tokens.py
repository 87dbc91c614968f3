"""The tokens that are known by how they look, whoever wrote them wherever: one row for each vendor or group of vendors."""

import re
from collections.abc import Callable
from typing import NamedTuple

from mabos_cli.core.language.secret_shapes import ends_random, is_key, is_token


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


TOKENS = (
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


VENDORS = (
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
