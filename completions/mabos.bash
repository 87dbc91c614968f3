# bash completion for mabos, made by: mabos completion bash

# What may follow the command $1: subs, opts and args (more: what comes again), and in kind what the option $2 takes.
_mabos_spec() {
  subs=() opts=() args=() more='' kind=''
  case $1 in
    '')
      subs=(init agent store recall get read update forget revive reinforce trust timeline consolidate log lifecycle capture ingest harvest migrate grade hierarchy status checkpoint belief desire goal intention plan commitment learning bdi fact rule infer constraint policy explain graph ontology case reason typedb context index report materialize git review connect disconnect hook skill doctor allow deny schedule mcp completion demo config)
      opts=(--version) ;;
    init)
      opts=(--role)
      args=(folders)
      case $2 in
        --role) kind=any ;;
      esac ;;
    agent)
      subs=(create list show) ;;
    'agent create')
      opts=(--role --name)
      args=(any)
      case $2 in
        --role|--name) kind=any ;;
      esac ;;
    'agent show')
      args=(agents) ;;
    store)
      opts=(--type -t --importance -i --priority --tag --store --source --context --related-to --expires --observed-at --author --session --trust --by --if-new --llm --redact --allow-secret --defer --batch)
      args=(any)
      case $2 in
        --type|-t) kind='=event
decision
outcome
lesson
fact
observation
preference
instruction
project
person
insight
plan' ;;
        --importance|-i|--source|--context|--expires|--observed-at|--author|--session|--by) kind=any ;;
        --priority) kind='=critical
high
medium
low' ;;
        --tag) kind=tags ;;
        --store) kind='=working
short_term
long_term' ;;
        --related-to) kind=items ;;
        --trust) kind='=trusted
agent
untrusted' ;;
        --batch) kind=files ;;
      esac ;;
    recall)
      opts=(--depth -d --limit -n --type -t --category --store --min-importance --priority-min --min-trust --since --until --tag --token-budget --format --live --archived --shared --preset --mmr --decay --explain --llm)
      args=(any)
      more=any
      case $2 in
        --depth|-d|--limit|-n|--min-importance|--since|--until|--token-budget) kind=any ;;
        --type|-t) kind='=event
decision
outcome
lesson
fact
observation
preference
instruction
project
person
insight
plan' ;;
        --category) kind='=episodic
semantic
procedural' ;;
        --store) kind='=working
short_term
long_term
all' ;;
        --priority-min) kind='=critical
high
medium
low' ;;
        --min-trust) kind='=trusted
agent
untrusted' ;;
        --tag) kind=tags ;;
        --format) kind='=brief
detailed' ;;
        --preset) kind='=default
seed
balanced
rrf' ;;
      esac ;;
    get)
      opts=(--tree)
      args=(ids) ;;
    read)
      opts=(--raw)
      args=(paths) ;;
    update)
      opts=(--content -c --type -t --importance -i --priority --tag --store --context --related-to --expires --supersedes --redact --allow-secret)
      args=(items)
      case $2 in
        --content|-c|--importance|-i|--context|--expires|--supersedes) kind=any ;;
        --type|-t) kind='=event
decision
outcome
lesson
fact
observation
preference
instruction
project
person
insight
plan' ;;
        --priority) kind='=critical
high
medium
low' ;;
        --tag) kind=tags ;;
        --store) kind='=working
short_term
long_term' ;;
        --related-to) kind=items ;;
      esac ;;
    forget)
      opts=(--reason)
      args=(items)
      case $2 in
        --reason) kind=any ;;
      esac ;;
    revive)
      opts=(--store)
      args=(archived)
      case $2 in
        --store) kind='=working
short_term
long_term' ;;
      esac ;;
    reinforce)
      opts=(--by)
      args=(items)
      case $2 in
        --by) kind=any ;;
      esac ;;
    trust)
      opts=(--set --by --reason --quarantine --log --limit -n)
      args=(items)
      case $2 in
        --set) kind='=trusted
agent
untrusted' ;;
        --by|--reason|--limit|-n) kind=any ;;
      esac ;;
    timeline)
      opts=(--before -B --after -A --live --archived)
      args=(items)
      case $2 in
        --before|-B|--after|-A) kind=any ;;
      esac ;;
    consolidate)
      opts=(--min-importance --min-access --no-summarize --dry-run --llm)
      case $2 in
        --min-importance|--min-access) kind=any ;;
      esac ;;
    log)
      subs=(consolidate archive) ;;
    'log consolidate')
      opts=(--older-than --min-importance --dry-run --llm)
      case $2 in
        --older-than|--min-importance) kind=any ;;
      esac ;;
    'log archive')
      opts=(--older-than --dry-run)
      case $2 in
        --older-than) kind=any ;;
      esac ;;
    lifecycle)
      subs=(run) ;;
    'lifecycle run')
      opts=(--dry-run --yes) ;;
    capture)
      opts=(--tool --type -t --session --author --tag --source --importance -i --trust --at --batch --strict)
      args=(any)
      case $2 in
        --tool|--session|--author|--source|--importance|-i|--at) kind=any ;;
        --type|-t) kind='=event
decision
outcome
lesson
fact
observation
preference
instruction
project
person
insight
plan' ;;
        --tag) kind=tags ;;
        --trust) kind='=trusted
agent
untrusted' ;;
        --batch) kind=files ;;
      esac ;;
    ingest)
      subs=(transcript) ;;
    'ingest transcript')
      opts=(--host --roles --tools --no-tools --since --harvest --dry-run)
      args=(files)
      more=files
      case $2 in
        --host) kind='=auto
claude
codex
gemini
openclaw' ;;
        --roles) kind='=user
assistant' ;;
        --since) kind=any ;;
      esac ;;
    harvest)
      opts=(--since --limit -n --store --min-importance --review --apply --leave --dry-run)
      case $2 in
        --since|--limit|-n|--min-importance|--apply|--leave) kind=any ;;
        --store) kind='=working
short_term
long_term' ;;
      esac ;;
    migrate)
      opts=(--min-tokens --dry-run)
      args=(files)
      more=files
      case $2 in
        --min-tokens) kind=any ;;
      esac ;;
    grade)
      opts=(--all --dry-run --explain)
      args=(items)
      more=items ;;
    hierarchy)
      subs=(build show search drill) ;;
    'hierarchy build')
      opts=(--scope --since --force --dry-run --no-llm)
      case $2 in
        --scope) kind='=week
month
quarter
all' ;;
        --since) kind=any ;;
      esac ;;
    'hierarchy show')
      opts=(--level)
      args=(any)
      case $2 in
        --level) kind='=quarterly
monthly
weekly
daily' ;;
      esac ;;
    'hierarchy search')
      opts=(--level --limit -n)
      args=(any)
      more=any
      case $2 in
        --level) kind='=quarterly
monthly
weekly
daily' ;;
        --limit|-n) kind=any ;;
      esac ;;
    'hierarchy drill')
      opts=(--width --limit -n)
      args=(any)
      more=any
      case $2 in
        --width|--limit|-n) kind=any ;;
      esac ;;
    checkpoint)
      subs=(latest list restore)
      opts=(--context -c --decision --finding --question --next)
      case $2 in
        --context|-c|--decision|--finding|--question|--next) kind=any ;;
      esac ;;
    belief)
      subs=(add revise list) ;;
    'belief add')
      opts=(--certainty --source --supports --group --trust --by)
      args=(any any)
      case $2 in
        --certainty|--source|--group|--by) kind=any ;;
        --supports) kind=goals ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'belief revise')
      opts=(--certainty --value --source --reason --trust --by)
      args=(beliefs)
      case $2 in
        --certainty|--value|--source|--reason|--by) kind=any ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'belief list')
      opts=(--min-certainty --status)
      case $2 in
        --min-certainty|--status) kind=any ;;
      esac ;;
    desire)
      subs=(add list) ;;
    'desire add')
      opts=(--priority --motivates --status --group)
      args=(any)
      case $2 in
        --priority) kind='=critical
high
medium
low' ;;
        --motivates) kind=goals ;;
        --status|--group) kind=any ;;
      esac ;;
    'desire list')
      opts=(--status)
      case $2 in
        --status) kind=any ;;
      esac ;;
    goal)
      subs=(add update list tree) ;;
    'goal add')
      opts=(--level --priority --deadline --parent --desire --requires --group)
      args=(any)
      case $2 in
        --level) kind='=strategic
tactical
operational' ;;
        --priority) kind='=critical
high
medium
low' ;;
        --deadline|--group) kind=any ;;
        --parent) kind=goals ;;
        --desire) kind=desires ;;
        --requires) kind=plans ;;
      esac ;;
    'goal update')
      opts=(--status --progress --priority --deadline --reason)
      args=(goals)
      case $2 in
        --status|--progress|--deadline|--reason) kind=any ;;
        --priority) kind='=critical
high
medium
low' ;;
      esac ;;
    'goal list')
      opts=(--status)
      case $2 in
        --status) kind=any ;;
      esac ;;
    intention)
      subs=(add progress complete drop list) ;;
    'intention add')
      opts=(--goal --plan --deadline --group)
      args=(any)
      case $2 in
        --goal) kind=goals ;;
        --plan) kind=plans ;;
        --deadline|--group) kind=any ;;
      esac ;;
    'intention progress')
      opts=(--percent --deadline)
      args=(intentions any)
      case $2 in
        --percent|--deadline) kind=any ;;
      esac ;;
    'intention complete')
      opts=(--outcome)
      args=(intentions)
      case $2 in
        --outcome) kind=any ;;
      esac ;;
    'intention drop')
      opts=(--reason)
      args=(intentions)
      case $2 in
        --reason) kind=any ;;
      esac ;;
    'intention list')
      opts=(--status)
      case $2 in
        --status) kind=any ;;
      esac ;;
    plan)
      subs=(add step list) ;;
    'plan add')
      opts=(--goal --step)
      args=(any)
      case $2 in
        --goal) kind=goals ;;
        --step) kind=any ;;
      esac ;;
    'plan step')
      opts=(--done)
      args=(plans any)
      case $2 in
        --done) kind=any ;;
      esac ;;
    'plan list')
      opts=(--steps) ;;
    commitment)
      subs=(add list) ;;
    'commitment add')
      opts=(--to --deadline --due --status --group)
      args=(any)
      case $2 in
        --to|--deadline|--due|--status|--group) kind=any ;;
      esac ;;
    'commitment list')
      opts=(--status)
      case $2 in
        --status) kind=any ;;
      esac ;;
    learning)
      subs=(add list) ;;
    'learning add')
      opts=(--source --trust --by)
      args=(any any)
      case $2 in
        --source|--by) kind=any ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    bdi)
      subs=(cycle status conflicts resolve) ;;
    'bdi cycle')
      opts=(--all --dry-run --check --compacted --watch)
      case $2 in
        --watch) kind=any ;;
      esac ;;
    'bdi conflicts')
      opts=(--floor --check --all)
      case $2 in
        --floor) kind=any ;;
      esac ;;
    'bdi resolve')
      opts=(--keep --reason)
      args=(any)
      case $2 in
        --keep) kind='=a
b
both' ;;
        --reason) kind=any ;;
      esac ;;
    fact)
      subs=(assert extract retract query explain current timeline lint import export) ;;
    'fact assert')
      opts=(--confidence --source --trust --by --from --until)
      args=(any any any)
      case $2 in
        --confidence|--source|--by|--from|--until) kind=any ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'fact extract')
      opts=(--review --apply --we --min-confidence --source --trust --limit -n)
      args=(any)
      case $2 in
        --apply|--we|--min-confidence|--source|--limit|-n) kind=any ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'fact retract')
      opts=(--subject --predicate --reason --cascade --dry-run)
      args=(facts)
      case $2 in
        --subject|--predicate|--reason) kind=any ;;
      esac ;;
    'fact query')
      opts=(--min-confidence --valid-at --no-derived --limit -n --shared)
      args=(any any any)
      case $2 in
        --min-confidence|--valid-at|--limit|-n) kind=any ;;
      esac ;;
    'fact explain')
      opts=(--depth)
      args=(facts)
      case $2 in
        --depth) kind=any ;;
      esac ;;
    'fact current')
      opts=(--at)
      args=(any)
      case $2 in
        --at) kind=any ;;
      esac ;;
    'fact timeline')
      args=(any) ;;
    'fact lint')
      opts=(--check) ;;
    'fact import')
      opts=(--format --source --trust --by)
      args=(files)
      case $2 in
        --format) kind='=ndjson
csv
turtle' ;;
        --source|--by) kind=any ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'fact export')
      opts=(--format --no-derived)
      case $2 in
        --format) kind='=ndjson
csv
turtle' ;;
      esac ;;
    rule)
      subs=(create list show toggle delete test) ;;
    'rule create')
      opts=(--name --type --condition --conclusion --message --severity --action --escalate --factor --description --domain)
      args=(any)
      case $2 in
        --name|--condition|--conclusion|--message|--action|--factor|--description|--domain) kind=any ;;
        --type) kind='=inference
constraint
policy' ;;
        --severity) kind='=info
warning
error
critical' ;;
      esac ;;
    'rule list')
      opts=(--type)
      case $2 in
        --type) kind='=inference
constraint
policy' ;;
      esac ;;
    'rule show')
      args=(rules) ;;
    'rule toggle')
      opts=(--on --off)
      args=(rules) ;;
    'rule delete')
      args=(rules) ;;
    'rule test')
      opts=(--limit -n)
      args=(rules)
      case $2 in
        --limit|-n) kind=any ;;
      esac ;;
    infer)
      subs=(forward backward abductive) ;;
    'infer forward')
      opts=(--persist --max-facts --min-confidence --max-depth --limit -n)
      case $2 in
        --max-facts|--min-confidence|--max-depth|--limit|-n) kind=any ;;
      esac ;;
    'infer backward')
      opts=(--depth)
      args=(any any any)
      case $2 in
        --depth) kind=any ;;
      esac ;;
    'infer abductive')
      opts=(--depth --limit -n)
      args=(any any any)
      case $2 in
        --depth|--limit|-n) kind=any ;;
      esac ;;
    constraint)
      subs=(check) ;;
    'constraint check')
      opts=(--check --severity --no-ontology)
      case $2 in
        --severity) kind='=info
warning
error
critical' ;;
      esac ;;
    policy)
      subs=(eval) ;;
    'policy eval')
      opts=(--set)
      case $2 in
        --set) kind=any ;;
      esac ;;
    explain)
      opts=(--depth)
      args=(any)
      more=any
      case $2 in
        --depth) kind=any ;;
      esac ;;
    graph)
      subs=(neighbors path match export impact) ;;
    'graph neighbors')
      opts=(--hops --limit -n)
      args=(any)
      case $2 in
        --hops|--limit|-n) kind=any ;;
      esac ;;
    'graph path')
      opts=(--hops)
      args=(any any)
      case $2 in
        --hops) kind=any ;;
      esac ;;
    'graph match')
      opts=(--hops --limit -n)
      args=(any)
      case $2 in
        --hops|--limit|-n) kind=any ;;
      esac ;;
    'graph export')
      opts=(--format --around --hops)
      case $2 in
        --format) kind='=mermaid
dot
jsonld' ;;
        --around|--hops) kind=any ;;
      esac ;;
    'graph impact')
      opts=(--conflict --behind --level)
      args=(any)
      case $2 in
        --conflict) kind=any ;;
        --level) kind='=strategic
tactical
operational' ;;
      esac ;;
    ontology)
      subs=(list show propose validate merge reject scaffold export) ;;
    'ontology list')
      opts=(--proposals --status)
      case $2 in
        --status) kind='=pending
approved
rejected' ;;
      esac ;;
    'ontology show')
      opts=(--tree)
      args=(any) ;;
    'ontology propose')
      opts=(--domain --type --parent --definition --synonym --domain-class --range --functional --rationale --id --by)
      args=(any)
      case $2 in
        --domain|--parent|--definition|--synonym|--domain-class|--range|--rationale|--id) kind=any ;;
        --type) kind='=class
object_property
datatype_property' ;;
        --by) kind=agents ;;
      esac ;;
    'ontology validate')
      opts=(--check --allow-similar)
      args=(proposals)
      more=proposals ;;
    'ontology merge')
      opts=(--all --allow-similar --dry-run)
      args=(proposals)
      more=proposals ;;
    'ontology reject')
      opts=(--reason)
      args=(proposals)
      case $2 in
        --reason) kind=any ;;
      esac ;;
    'ontology scaffold')
      opts=(--as)
      args=(any)
      case $2 in
        --as) kind=any ;;
      esac ;;
    'ontology export')
      opts=(--format)
      args=(any)
      case $2 in
        --format) kind='=jsonld
turtle
ntriples
typeql' ;;
      esac ;;
    case)
      subs=(store list show revise retrieve) ;;
    'case store')
      opts=(--belief --desire --context --plan --action --success --failure --metric --lessons --from --from-mind --batch --source --trust --by)
      case $2 in
        --belief|--desire|--context|--plan|--action|--metric|--lessons|--source|--by) kind=any ;;
        --from) kind=cases ;;
        --batch) kind=files ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'case list')
      opts=(--success --failure --limit -n)
      case $2 in
        --limit|-n) kind=any ;;
      esac ;;
    'case show')
      args=(cases) ;;
    'case revise')
      opts=(--success --failure --metric --lessons --plan --action --context --correct --trust --by)
      args=(cases)
      case $2 in
        --metric|--lessons|--plan|--action|--context|--by) kind=any ;;
        --trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'case retrieve')
      opts=(--belief --desire --context --success-only --min-score --limit -n)
      case $2 in
        --belief|--desire|--context|--min-score|--limit|-n) kind=any ;;
      esac ;;
    reason)
      subs=(solve list show outcome history)
      opts=(--method -m --methods --input --classify --save)
      args=(any)
      case $2 in
        --method|-m) kind='=deductive
inductive
abductive
analogical
modal
deontic
temporal
default
constraint-satisfaction
fuzzy
bayesian
decision-theory
expected-utility
info-theory
monte-carlo
causal
counterfactual
interventional
root-cause
systems-thinking
heuristic
case-based
pattern-recognition
satisficing
naturalistic
game-theory
negotiation
social-choice
argumentation
stakeholder
meta-cognitive
strategy-selection
learning-to-reason
reflection
calibration' ;;
        --methods|--classify) kind=any ;;
        --input) kind=files ;;
      esac ;;
    'reason solve')
      opts=(--method -m --methods --input --classify --save)
      args=(any)
      case $2 in
        --method|-m) kind='=deductive
inductive
abductive
analogical
modal
deontic
temporal
default
constraint-satisfaction
fuzzy
bayesian
decision-theory
expected-utility
info-theory
monte-carlo
causal
counterfactual
interventional
root-cause
systems-thinking
heuristic
case-based
pattern-recognition
satisficing
naturalistic
game-theory
negotiation
social-choice
argumentation
stakeholder
meta-cognitive
strategy-selection
learning-to-reason
reflection
calibration' ;;
        --methods|--classify) kind=any ;;
        --input) kind=files ;;
      esac ;;
    'reason list')
      opts=(--category)
      case $2 in
        --category) kind='=formal
probabilistic
causal
experience
social
meta' ;;
      esac ;;
    'reason show')
      opts=(--schema)
      args=('=deductive
inductive
abductive
analogical
modal
deontic
temporal
default
constraint-satisfaction
fuzzy
bayesian
decision-theory
expected-utility
info-theory
monte-carlo
causal
counterfactual
interventional
root-cause
systems-thinking
heuristic
case-based
pattern-recognition
satisficing
naturalistic
game-theory
negotiation
social-choice
argumentation
stakeholder
meta-cognitive
strategy-selection
learning-to-reason
reflection
calibration') ;;
    'reason outcome')
      opts=(--happened --note)
      args=(results)
      case $2 in
        --happened) kind='=yes
no' ;;
        --note) kind=any ;;
      esac ;;
    'reason history')
      opts=(--open --limit -n)
      case $2 in
        --limit|-n) kind=any ;;
      esac ;;
    typedb)
      subs=(status sync-schema sync-agent query seed-goals) ;;
    'typedb sync-schema')
      opts=(--dry-run) ;;
    'typedb sync-agent')
      opts=(--all --check --strict)
      args=(agents) ;;
    'typedb query')
      opts=(--full --database)
      args=(any)
      case $2 in
        --database) kind=any ;;
      esac ;;
    'typedb seed-goals')
      opts=(--create-agents --dry-run)
      args=(files) ;;
    context)
      subs=(index observations pack build compress audit flush-check flush-prompt) ;;
    'context index')
      opts=(--no-write) ;;
    'context observations')
      opts=(--no-write) ;;
    'context pack')
      opts=(--budget -b --history --tail --min-trust --limit -n --live --trace --no-use)
      args=(any)
      more=any
      case $2 in
        --budget|-b|--tail|--limit|-n) kind=any ;;
        --history) kind=files ;;
        --min-trust) kind='=trusted
agent
untrusted' ;;
      esac ;;
    'context build')
      opts=(--request --system --skills --history --window --messages-only)
      case $2 in
        --request|--window) kind=any ;;
        --system|--skills|--history) kind=files ;;
      esac ;;
    'context compress')
      opts=(--history --budget -b --keep --llm --messages-only)
      case $2 in
        --history) kind=files ;;
        --budget|-b|--keep) kind=any ;;
      esac ;;
    'context audit')
      opts=(--scope --recommend --skills --check --max-tokens)
      case $2 in
        --scope) kind='=all
memory_md
domains
system_prompt' ;;
        --skills) kind=files ;;
        --max-tokens) kind=any ;;
      esac ;;
    'context flush-check')
      opts=(--total-tokens --window --compaction-count --session --soft --reserve)
      case $2 in
        --total-tokens|--window|--compaction-count|--session|--soft|--reserve) kind=any ;;
      esac ;;
    index)
      subs=(sync status search) ;;
    'index sync')
      opts=(--rebuild --watch) ;;
    'index search')
      opts=(--limit -n)
      args=(any)
      more=any
      case $2 in
        --limit|-n) kind=any ;;
      esac ;;
    report)
      opts=(--output -o --all --force)
      case $2 in
        --output|-o) kind=files ;;
      esac ;;
    git)
      subs=(install merge) ;;
    'git install')
      opts=(--uninstall --dry-run) ;;
    'git merge')
      args=(any any any any) ;;
    review)
      opts=(--all --since --limit -n)
      args=(any)
      case $2 in
        --since|--limit|-n) kind=any ;;
      esac ;;
    connect)
      opts=(--user --project --dry-run)
      args=('=claude
codex
gemini
cursor
openclaw
opencode')
      case $2 in
        --project) kind=folders ;;
      esac ;;
    disconnect)
      opts=(--user --project --all --dry-run)
      args=('=claude
codex
gemini
cursor
openclaw
opencode')
      case $2 in
        --project) kind=folders ;;
      esac ;;
    hook)
      opts=(--host)
      args=(any)
      case $2 in
        --host) kind='=claude
codex
gemini
cursor
openclaw
opencode' ;;
      esac ;;
    skill)
      opts=(--format --output -o)
      case $2 in
        --format) kind='=skill
agents' ;;
        --output|-o) kind=files ;;
      esac ;;
    doctor)
      opts=(--repair --check --security) ;;
    allow)
      opts=(--show) ;;
    schedule)
      subs=(show install uninstall run) ;;
    'schedule show')
      opts=(--format)
      case $2 in
        --format) kind='=systemd
cron' ;;
      esac ;;
    'schedule install')
      opts=(--user --cron --dry-run) ;;
    'schedule uninstall')
      opts=(--user --cron --dry-run) ;;
    'schedule run')
      args=('=cycle
sync
nightly
weekly') ;;
    mcp)
      opts=(--tools --read-only --structured --list)
      case $2 in
        --tools) kind=any ;;
      esac ;;
    completion)
      args=('=bash
zsh
fish') ;;
    demo)
      args=(folders) ;;
    config)
      args=('=memory.default_type
types.event
types.decision
types.outcome
types.lesson
types.fact
types.observation
types.preference
types.instruction
types.project
types.person
types.insight
types.plan
memory.working_capacity
memory.short_term_capacity
memory.short_term_ttl
memory.split_above
memory.materialize_split_above
memory.page_items
memory.max_content_bytes
memory.duplicate_threshold
memory.related_threshold
memory.access_journal_lines
consolidation.min_importance
consolidation.min_access
consolidation.jaccard
log.min_importance
log.consolidate_after
log.recurring_days
log.archive_after
lifecycle.high_unused
lifecycle.notice
lifecycle.fuse
memory.shared
recall.limit
recall.preset
recall.pool
recall.candidate_multiplier
recall.mmr_lambda
recall.half_life
recall.importance_weight
recall.depth_hits
recall.depth_terms
recall.depth_reserved
index.vectors
index.passage_tokens
index.overlap_tokens
index.item_tokens
index.max_file_bytes
index.wait
embeddings.provider
embeddings.model
embeddings.url
embeddings.path
embeddings.timeout
llm.command
llm.url
llm.model
llm.timeout
llm.max_questions
grade.base
grade.decision
grade.important
grade.remember
grade.recurring
grade.must_remember
grade.nice_to_have
capture.max_bytes
migrate.max_tokens
migrate.min_tokens
harvest.min_importance
harvest.review
harvest.person_trust
harvest.local_tools
harvest.chunk
flush.soft_tokens
flush.reserve_tokens
bdi.certainty_floor
facts.materialize_split_above
bdi.chunk
bdi.open_minded
bdi.cautious
cbr.max_cases
cbr.belief_weight
cbr.desire_weight
cbr.context_weight
hierarchy.week_bytes
hierarchy.month_bytes
hierarchy.quarter_bytes
hierarchy.width
typedb.address
typedb.database
typedb.user
typedb.tls
typedb.tls_ca
typedb.connect_timeout
typedb.timeout
context.tokenizer
context.window
context.system_share
context.skills_share
context.memory_share
context.history_share
context.request_share
context.reserve_share
context.compact_at
context.flush_at
context.recent_messages
audit.section_tokens
audit.file_tokens
context.index_tokens
context.observation_days
context.observation_tokens
context.pack_budget
context.fresh
context.hot_bonus
context.hot_share
context.cold_share
context.trusted_weight
context.untrusted_weight
context.tail_turns
context.tail_share
schedule.cycle
schedule.sync
schedule.nightly
schedule.weekly
schedule.delay
schedule.patience
schedule.name
git.commit
mcp.max_tokens
hook.harvest
hook.prompt_budget
hook.min_trust
secrets.refuse
text.chars_per_token
lock.timeout') ;;
  esac
  opts+=(--workspace -w --agent -a --json --quiet -q --verbose -v --lock-timeout --commit --help -h)
  if [[ -z $kind ]]; then
      case $2 in
        --workspace|-w) kind=folders ;;
        --agent|-a) kind=agents ;;
        --lock-timeout) kind=any ;;
      esac
  fi
}

# A word of the line as the program would get it, as far as that needs no evaluation.
_mabos_bare() {
  case $1 in
    [\'\"]*) bare=${1:1} bare=${bare%"${1:0:1}"} ;;
    *) bare=${1//\\/} ;;
  esac
}

# The words of the line up to the cursor in parts: bash cuts them at = and : as well, which are no ends here.
_mabos_parts() {
  local rest=$COMP_LINE word trimmed number
  for ((number = 0; number <= COMP_CWORD; number++)); do
    word=${COMP_WORDS[number]}
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    if ((number)) && [[ $trimmed == "$rest" && -n $word ]]; then
      parts[-1]+=$word
    else
      parts+=("$word")
    fi
    rest=${trimmed#"$word"}
  done
}

# Offers the words in the array found that go on from cur, without what bash will not replace.
_mabos_reply() {
  local word lead=${cur%"$last"} # of one word, such as the tag a:b, the part up to the colon
  for word in "${found[@]}"; do
    word=${word%%$'\t'*}
    [[ -n $word && $word == "$bare"* ]] || continue
    [[ $cur == [\'\"]* ]] || printf -v word %q "$word"
    COMPREPLY+=("${word#"$lead"}")
  done
  [[ ${COMPREPLY[*]} != */ ]] || compopt -o nospace
}

_mabos_offer() {
  local -a found=()
  case $kind in
    any | '') return ;;
    files) compopt -o default; return ;;
    folders) compopt -o dirnames; return ;;
    '='*) mapfile -t found <<<"${kind#=}" ;;
    *) mapfile -t found < <("$program" complete "$kind" "${where[@]}" -- "$bare" 2>/dev/null) ;;
  esac
  _mabos_reply
}

_mabos_where() {
  _mabos_bare "$2"
  case $1 in
    -w | --workspace) where+=(-w "$bare") ;;
    -a | --agent) where+=(-a "$bare") ;;
  esac
}

_mabos() {
  local at='' pending='' literal='' word cur last=$2 bare kind more program number=0
  local -a parts=() subs opts args where=() found
  COMPREPLY=()
  [[ $last == [=:] ]] && last=''
  _mabos_parts
  program=$(type -P -- "${parts[0]/#\~/$HOME}") || program=mabos
  cur=${parts[-1]}
  for word in "${parts[@]:1:${#parts[@]}-2}"; do
    if [[ -n $pending ]]; then
      _mabos_where "$pending" "$word"
      pending=''
    elif [[ -n $literal ]]; then
      number=$((number + 1))
    elif [[ $word == -- ]]; then
      literal=1
    elif [[ $word == --*=* ]]; then
      _mabos_where "${word%%=*}" "${word#*=}"
    elif [[ $word == -?* ]]; then
      _mabos_spec "$at" "$word"
      [[ -n $kind ]] && pending=$word
    else
      _mabos_spec "$at"
      if [[ $number == 0 && " ${subs[*]} " == *" $word "* ]]; then
        at="${at:+$at }$word"
      else
        number=$((number + 1))
      fi
    fi
  done
  if [[ -z $pending$literal && $cur == --*=* ]]; then
    _mabos_spec "$at" "${cur%%=*}"
    [[ $last == --*=* ]] && COMPREPLY=() && return
    cur=${cur#*=}
    _mabos_bare "$cur"
    _mabos_offer
    return
  fi
  _mabos_bare "$cur"
  _mabos_spec "$at" "$pending"
  if [[ -n $pending ]]; then
    _mabos_offer
  elif [[ -z $literal && $cur == -* ]]; then
    found=("${opts[@]}")
    _mabos_reply
  elif [[ $number == 0 && ${#subs[@]} -gt 0 ]]; then
    found=("${subs[@]}")
    _mabos_reply
  else
    kind=${args[number]:-$more}
    _mabos_offer
  fi
}

complete -o nosort -F _mabos mabos 2>/dev/null || complete -F _mabos mabos
