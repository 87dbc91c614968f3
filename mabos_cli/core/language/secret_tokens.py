"""The tokens that are known by how they look, whoever wrote them wherever: one row for each vendor or group of vendors."""

import re
from collections.abc import Callable
from typing import NamedTuple

from mabos_cli.core.language.secret_shapes import ends_random, is_issued, is_key, is_token


class Rule(NamedTuple):
    """One way to find secrets of a kind. The secret is the group of the pattern that matched, or else all of it."""

    kind: str
    keys: tuple[str, ...]  # in lower case; the pattern starts at one of them
    pattern: str
    judge: Callable[[str], bool] = is_token
    anywhere: bool = False  # the pattern may start elsewhere; the text only has to hold a key


_END = r"(?![A-Za-z0-9])"


def _rest(length: int) -> str:
    return rf"(?:[\w-]|[.%$:+/=](?=[\w-])){{{length},}}={{0,2}}"


def _vendors(kind: str, length: int, prefixes: str, judge: Callable[[str], bool] = is_token) -> Rule:
    """Returns a rule for tokens by how they begin, and how many random characters follow at least."""
    begins = prefixes.split()
    keys = tuple(dict.fromkeys(map(str.lower, begins)))
    return Rule(kind, keys, f"(?:{'|'.join(map(re.escape, begins))}){_rest(length)}", judge)


def _shape(kind: str, keys: str, pattern: str, judge: Callable[[str], bool] = is_token) -> Rule:
    """Returns a rule for tokens of an exact form."""
    return Rule(kind, tuple(keys.split()), f"(?:{pattern}){_END}", judge)


# Each key is the beginning of a token.
TOKENS = (
    _shape("aws_access_key", "akia asia abia acca", "A(?:KI|SI|BI|CC)A[A-Z0-9]{16}"),
    _vendors("aws_access_key", 60, "ABSK"),
    _vendors("github_token", 30, "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_"),
    _vendors("gitlab_token", 20, "glpat- gldt- glrt- glft- glcbt- glptt- glsoat- glagent- gloas- glimt- GR1348941"),
    _vendors("slack_token", 12, "xoxa xoxb xoxc xoxd xoxe xoxo xoxp xoxr xoxs xapp-"),
    _vendors("stripe_key", 16, "sk_live_ sk_test_ rk_live_ rk_test_ whsec_"),
    _vendors("anthropic_key", 20, "sk-ant-"),
    _vendors("openai_key", 20, "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1-", is_key),
    _shape("openai_key", "sk-", r"sk-[A-Za-z0-9]{20,}(?![\w-])", is_key),
    _vendors("google_api_key", 30, "AIza"),
    _vendors("google_oauth", 20, "GOCSPX- ya29. 1//0"),
    _vendors("npm_token", 30, "npm_"),
    _vendors("pypi_token", 40, "pypi-", is_key),
    _shape("sendgrid_key", "sg.", r"SG\.[\w-]{16,}+\.[\w-]{30,}"),
    _shape("twilio_key", "sk", "SK[0-9a-f]{32}"),
    _shape("mailgun_key", "key-", "key-[0-9a-f]{32}"),
    _vendors("huggingface_token", 30, "hf_ api_org_"),
    _vendors("digitalocean_token", 40, "dop_v1_ doo_v1_ dor_v1_"),
    _vendors("shopify_token", 32, "shpat_ shpca_ shppa_ shpss_"),
    _vendors("linear_key", 32, "lin_api_ lin_oauth_"),
    _vendors("notion_token", 40, "secret_ ntn_", is_key),
    _vendors("vault_token", 20, "hvs. hvb. hvr."),
    _vendors("age_key", 40, "AGE-SECRET-KEY-1"),
    _vendors("docker_token", 20, "dckr_pat_ dckr_oat_"),
    _shape("databricks_token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _vendors("grafana_token", 32, "glsa_"),
    _vendors("atlassian_token", 40, "ATATT3 ATCTT3"),
    Rule("jwt", ("eyj",), r"(?<![_-])eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+(?:\.[\w-]+)*+"),
    _vendors("ai_key", 20, "xai- gsk_ r8_ pplx- tvly- nvapi- pcsk_ lsv2_ tgp_v1_ csk- jina_ sk_ fw_", is_key),
    _vendors(
        "cloud_token", 20, "nfp_ pul- tskey- FlyV1 amzn.mws. fo1_ fm2_ HRKU- rnd_ dt0c01. dt0s01. dp.st. dp.pt. dp.ct."
    ),
    _vendors("cloud_token", 16, "LTAI AQVN v1.0- t1.9 y0_Ag", is_key),
    _vendors("database_token", 20, "sbp_ sb_secret_ pscale_pw_ pscale_tkn_ pscale_oauth_ npg_ napi_", is_key),
    _vendors("mail_key", 24, "re_ xkeysib- xsmtpsib- mlsn.", is_key),
    _vendors("package_token", 30, "rubygems_ squ_ sqp_ sqa_ sgp_ bkua_ CCIPAT_ CCIPRJ_ ATBB AKCp oy2 cio", is_key),
    _vendors("payment_key", 20, "sq0atp- sq0csp- EAAA access_token$ FLWSECK shippo_live_ rzp_live_", is_key),
    _vendors(
        "workspace_token",
        20,
        "figd_ figo_ ATTA CFPAT- PMAK- PMAT- pat-na1- pat-eu1- tfp_ sl.u. sl.B apify_api_",
        is_key,
    ),
    _shape("workspace_token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _vendors("monitoring_key", 20, "NRAK- NRAA- sntrys_ sntryu_ glc_ phx_ ddp_"),
    _vendors("onepassword_key", 40, "ops_eyJ"),
    _shape("onepassword_key", "a3-", "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){3,4}[A-Z0-9]{5}"),
    _vendors("map_key", 40, "sk.eyJ tk.eyJ"),
    _shape("flag_key", "sdk- api- mob-", "(?:sdk|api|mob)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    _vendors("social_token", 80, "EAA APA91b", is_key),
    _vendors("social_token", 60, "AAAAAAAAAAAAAAAAAAAA", ends_random),
    _shape("private_key", "xprv yprv zprv tprv", "[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    # A PEM block inside base64, as in the secrets of Kubernetes.
    Rule(
        "private_key",
        ("ls0tls1crudjti",),
        r"LS0tLS1CRUdJTi(?:BSU0Eg|BQUklW|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg|BQR1Ag)[A-Za-z0-9+/=]{20,}",
    ),
    # Of vendors that are not known: letters, a sign, and what is too long and too mixed for an id; or three parts.
    Rule(
        "token",
        (),
        r"(?:[a-z][a-z0-9]{1,9}|[A-Z][A-Z0-9]{1,9})(?:[_-][a-z0-9]{1,10}){0,2}[_-][A-Za-z0-9]{32,}"
        r"|(?<![_-])[\w-]{20,}+\.[\w-]{6,}+\.[\w-]{25,}+",
        is_issued,
    ),
)
ISSUED = len(TOKENS) - 1
