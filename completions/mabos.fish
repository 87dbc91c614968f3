# fish completion for mabos, made by: mabos completion fish

# What may follow the command $at: subs, opts and args (more: what comes again), and in kind what $option takes. The
# variables are the caller's.
function __mabos_spec --no-scope-shadowing
    set subs
    set opts
    set args
    set more ''
    set kind ''
    switch "$at"
        case ''
            set subs 'init	Make a workspace, with a first agent' 'agent	Create, list and show agents' 'store	Remember something' 'recall	Find memories and passages of memory files' 'get	Show the item with an id, live or archived' 'read	Print lines of a file of the agent' 'update	Edit an item; the version before is archived' 'forget	Move an item to the archive; revive undoes it' 'revive	Bring an archived item back' 'reinforce	Count a use of an item, and raise its importance if asked' 'trust	Show how far an item is trusted and why, or decide it' 'timeline	Show what happened around an id, a date or a query, in order' 'consolidate	Compress related short-term memories into long-term ones' 'log	Take events of old daily logs into MEMORY.md, and archive old logs' 'lifecycle	Archive what nobody used for long, and what has expired' 'capture	Note down what happened, without secrets; harvest makes memories of it' 'ingest	Take what was said in transcripts of agent hosts as observations' 'harvest	Make memories of observations, never twice' 'migrate	Make memories of notes that people wrote, each once, with their lines cited' 'grade	Fill in the importance that nobody gave, by heuristic-v1' 'hierarchy	Sum up weeks, months and quarters, and find the way down to a day' 'status	Show counts, what is due and the last runs' 'checkpoint	Write down the state of a session, or show and restore one' 'belief	Add, revise and list what an agent holds true' 'desire	Add and list what an agent wants' 'goal	Add and list goals, and show how they hang together' 'intention	Add intentions, note progress, complete, drop and list them' 'plan	Add plans and steps, finish steps, and list plans' 'commitment	Add and list what an agent has promised to others' 'learning	Add and list lessons' 'bdi	Run the cycle over an agent\'s mind, and settle what its beliefs disagree about' 'fact	Assert, retract, query and check facts' 'rule	Create, list, test and switch rules over facts' 'infer	Derive facts by rules, prove goals, and look for explanations' 'constraint	Check facts against constraints' 'policy	Evaluate policies against facts' 'explain	Answer a question or a triple by facts, proof, hypotheses, memories and cases, and cite each' 'graph	Walk and export the graph of facts, and show what hangs on a belief' 'ontology	Propose, check and merge concepts, and show ontologies' 'case	Store cases, retrieve those like the present situation, and note what came of reuse' 'reason	Reason about a problem by one of 35 methods, or several' 'typedb	Mirror agents in a TypeDB 3 server, and query it' 'context	Decide what an agent reads: its memory index, packs, whole windows' 'index	Keep and inspect the search index; it can be deleted at any time' 'report	Write a page of HTML that shows memory, mind and facts of one agent or of all' 'materialize	Rewrite the Markdown that is derived from memory' 'git	Merge what two branches remember, by git itself' 'review	Show what an agent learned since a commit' 'connect	Give an agent host this memory: hooks, MCP server, skill, first index; then try it' 'disconnect	Take out of an agent host\'s files exactly what connect put in' 'hook	Answer an event of an agent host, whose JSON comes on standard input' 'skill	Print what tells an agent how to use its memory here' 'doctor	Check every file of an agent, and repair what can be repaired' 'allow	Allow settings of a workspace that run programs, send data or lower guards' 'deny	Withdraw what mabos allow permitted' 'schedule	Run the upkeep of all agents by timers of systemd, or by cron' 'mcp	Serve tools and memory to an agent host, by the Model Context Protocol' 'completion	Print what completes this program\'s words in a shell' 'demo	Show how it all goes, on three months of a small company\'s memories' 'config	Show the settings in effect and where each comes from'
            set opts '--version	Print the version'
        case init
            set opts '--role	What the first agent is for'
            set args folders
            switch $option
                case --role
                    set kind any
            end
        case agent
            set subs 'create	Add an agent to the workspace' 'list	List the agents of the workspace' 'show	Show an agent: its manifest, its files, its memory'
        case 'agent create'
            set opts '--role	What the agent is for' '--name	What people call it'
            set args any
            switch $option
                case --role --name
                    set kind any
            end
        case 'agent show'
            set args agents
        case store
            set opts '--type	event decision outcome lesson fact observation preference instruction project person insight plan' '-t	event decision outcome lesson fact observation preference instruction project person insight plan' '--importance	0 to 1; graded by heuristic-v1 when left out' '-i	0 to 1; graded by heuristic-v1 when left out' '--priority	critical, high, medium or low: a name for an importance' '--tag	A tag; repeat it, or separate with commas' '--store	working, short_term or long_term (default short_term; for types that last, long_term)' '--source	Where it comes from (default manual)' '--context	Why it is stored' '--related-to	A related item; may repeat' '--expires	A date, or how long from now: 30d' '--observed-at	When it happened, if not now' '--author	Who said it' '--session	The conversation it was said in' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--by	Who vouches for more trust than such a source has; logged' '--if-new	Store only when nothing similar is there' '--llm	Let the language model merge near duplicates in long-term memory' '--redact	Store it with secrets replaced by [redacted:KIND]' '--allow-secret	Store it although it holds a secret' '--defer	Queue it at once; the next write stores it' '--batch	Store each line of an NDJSON file, or - for standard input; options hold where a line is silent'
            set args any
            switch $option
                case --type -t
                    set kind '=event
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
plan'
                case --importance -i --source --context --expires --observed-at --author --session --by
                    set kind any
                case --priority
                    set kind '=critical
high
medium
low'
                case --tag
                    set kind tags
                case --store
                    set kind '=working
short_term
long_term'
                case --related-to
                    set kind items
                case --trust
                    set kind '=trusted
agent
untrusted'
                case --batch
                    set kind files
            end
        case recall
            set opts '--depth	0 to 3: also follow what the best hits mention' '-d	0 to 3: also follow what the best hits mention' '--limit	Show at most this many; 0 for all (default 20)' '-n	Show at most this many; 0 for all (default 20)' '--type	Only this type; may repeat' '-t	Only this type; may repeat' '--category	Only episodic, semantic or procedural memories, or a type' '--store	Only what is in working, short_term or long_term; or all' '--min-importance	Only memories at least this important' '--priority-min	Only memories at least critical, high, medium or low' '--min-trust	Only what is at least agent or trusted; files are the agent\'s own words at best' '--since	Only what happened since: a date, or an age such as 7d' '--until	Only what happened until then, that day included' '--tag	Only with this tag; repeat for all of several' '--token-budget	Stop at this many tokens' '--format	brief (a line each) or detailed' '--live	Leave out what expired or went unused, and is archived' '--archived	Also what was forgotten, merged, consolidated or superseded' '--shared	Search the other agents that share their memory too' '--preset	How signals are weighed: default, seed, balanced or rrf' '--mmr	Prefer results that differ from one another' '--decay	Let scores halve with age, every 30 days' '--explain	Say why each result is here' '--llm	Let the language model rephrase the question and help to order'
            set args any
            set more any
            switch $option
                case --depth -d --limit -n --min-importance --since --until --token-budget
                    set kind any
                case --type -t
                    set kind '=event
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
plan'
                case --category
                    set kind '=episodic
semantic
procedural'
                case --store
                    set kind '=working
short_term
long_term
all'
                case --priority-min
                    set kind '=critical
high
medium
low'
                case --min-trust
                    set kind '=trusted
agent
untrusted'
                case --tag
                    set kind tags
                case --format
                    set kind '=brief
detailed'
                case --preset
                    set kind '=default
seed
balanced
rrf'
            end
        case get
            set opts '--tree	Also show what it was derived from, all the way down'
            set args ids
        case read
            set opts '--raw	Print secrets too; else each is replaced'
            set args paths
        case update
            set opts '--content	The new text; - reads standard input' '-c	The new text; - reads standard input' '--type	The new type' '-t	The new type' '--importance	0 to 1' '-i	0 to 1' '--priority	critical, high, medium or low' '--tag	The new tags, replacing the old; may repeat' '--store	Move it to working, short_term or long_term' '--context	Why it is stored' '--related-to	Related items, replacing the old' '--expires	A date, or how long from now: 30d' '--supersedes	An item that was so before; it is archived' '--redact	Store it with secrets replaced by [redacted:KIND]' '--allow-secret	Store it although it holds a secret'
            set args items
            switch $option
                case --content -c --importance -i --context --expires --supersedes
                    set kind any
                case --type -t
                    set kind '=event
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
plan'
                case --priority
                    set kind '=critical
high
medium
low'
                case --tag
                    set kind tags
                case --store
                    set kind '=working
short_term
long_term'
                case --related-to
                    set kind items
            end
        case forget
            set opts '--reason	Why; kept in the archive'
            set args items
            switch $option
                case --reason
                    set kind any
            end
        case revive
            set opts '--store	Where to: working, short_term or long_term; else where it came from'
            set args archived
            switch $option
                case --store
                    set kind '=working
short_term
long_term'
            end
        case reinforce
            set opts '--by	Raise the importance by this much, up to 1'
            set args items
            switch $option
                case --by
                    set kind any
            end
        case trust
            set opts '--set	trusted, agent or untrusted from now on' '--by	Who decides; needed with --set' '--reason	Why; kept in the log' '--quarantine	List the untrusted items, newest first' '--log	List what was decided, about ID or all' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            set args items
            switch $option
                case --set
                    set kind '=trusted
agent
untrusted'
                case --by --reason --limit -n
                    set kind any
            end
        case timeline
            set opts '--before	Entries before it' '-B	Entries before it' '--after	Entries after it' '-A	Entries after it' '--live	Leave archived items out' '--archived	Also what was forgotten'
            set args items
            switch $option
                case --before -B --after -A
                    set kind any
            end
        case consolidate
            set opts '--min-importance	Take items at least this important (default 0.6)' '--min-access	Or used at least this often (default 2)' '--no-summarize	Move items one by one, without grouping' '--dry-run	Show what would happen' '--llm	Let the language model word the groups; a dry run does not ask it'
            switch $option
                case --min-importance --min-access
                    set kind any
            end
        case log
            set subs 'consolidate	Take the important events of old daily logs into MEMORY.md, each once' 'archive	Move old daily logs to memory/archive/; they stay searchable and readable'
        case 'log consolidate'
            set opts '--older-than	Days of more than this ago (default 7d)' '--min-importance	Take events at least this important (default 0.6)' '--dry-run	Show what would happen' '--llm	Let the language model find facts in them; a dry run does not ask it'
            switch $option
                case --older-than --min-importance
                    set kind any
            end
        case 'log archive'
            set opts '--older-than	Logs of more than this ago (default 30d)' '--dry-run	Show what would happen'
            switch $option
                case --older-than
                    set kind any
            end
        case lifecycle
            set subs 'run	Archive what is unused or expired'
        case 'lifecycle run'
            set opts '--dry-run	Show what would happen' '--yes	Archive all of it at once, however much that is'
        case capture
            set opts '--tool	The tool that said it; then it is untrusted' '--type	The type of the item that it becomes' '-t	The type of the item that it becomes' '--session	The conversation it was said in' '--author	Who said it' '--tag	A tag; repeat it, or separate with commas' '--source	Where it comes from (default tool:NAME, or capture)' '--importance	0 to 1; graded by harvest when left out' '-i	0 to 1; graded by harvest when left out' '--trust	trusted, agent or untrusted (default agent; what a tool said, untrusted)' '--at	When it happened, if not now' '--batch	Capture each line of an NDJSON file, or - for standard input; options hold where a line is silent' '--strict	Take nothing when one line of a batch is malformed'
            set args any
            switch $option
                case --tool --session --author --source --importance -i --at
                    set kind any
                case --type -t
                    set kind '=event
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
plan'
                case --tag
                    set kind tags
                case --trust
                    set kind '=trusted
agent
untrusted'
                case --batch
                    set kind files
            end
        case ingest
            set subs 'transcript	Take messages and answers of tools from transcripts of Claude Code, Codex, Gemini or OpenClaw, each once'
        case 'ingest transcript'
            set opts '--host	Who wrote them: claude, codex, gemini or openclaw; auto tells by their lines' '--roles	Whose messages to take' '--tools	Take what tools answered' '--no-tools	Take what tools answered' '--since	Only what was said since: a date, or an age such as 7d' '--harvest	Make memories of what waits, behind it' '--dry-run	Show what would happen'
            set args files
            set more files
            switch $option
                case --host
                    set kind '=auto
claude
codex
gemini
openclaw'
                case --roles
                    set kind '=user
assistant'
                case --since
                    set kind any
            end
        case harvest
            set opts '--since	Only what was observed since: a date, or an age such as 7d' '--limit	Take at most this many; 0 for all' '-n	Take at most this many; 0 for all' '--store	working, short_term or long_term (default: by type)' '--min-importance	Take what is at least this important (default 0)' '--review	List what a harvest would keep, with citations; nothing is written' '--apply	Keep only these candidates of a review, or all; the rest waits' '--leave	Never offer these candidates again, or all of them' '--dry-run	Show what would happen'
            switch $option
                case --since --limit -n --min-importance --apply --leave
                    set kind any
                case --store
                    set kind '=working
short_term
long_term'
            end
        case migrate
            set opts '--min-tokens	Leave out entries smaller than this (default 0)' '--dry-run	Show what would happen'
            set args files
            set more files
            switch $option
                case --min-tokens
                    set kind any
            end
        case grade
            set opts '--all	Every item whose importance nobody gave' '--dry-run	Show what would happen' '--explain	Say how each number comes about'
            set args items
            set more items
        case hierarchy
            set subs 'build	Write the weekly, monthly and quarterly summaries whose daily logs changed' 'show	Show the tree of summaries: how many days each covers, and whether it is up to date' 'search	Search the summaries of one level, or of all' 'drill	Go down from quarters to months, weeks, days and lines, and say why'
        case 'hierarchy build'
            set opts '--scope	week, month, quarter or all' '--since	Only periods that reach a date, or an age such as 30d' '--force	Write all of them anew; edited ones are set aside' '--dry-run	Show what would happen' '--no-llm	Without an overview by a language model'
            switch $option
                case --scope
                    set kind '=week
month
quarter
all'
                case --since
                    set kind any
            end
        case 'hierarchy show'
            set opts '--level	How far down: quarterly, monthly, weekly or daily (default: one below PERIOD)'
            set args any
            switch $option
                case --level
                    set kind '=quarterly
monthly
weekly
daily'
            end
        case 'hierarchy search'
            set opts '--level	daily, weekly, monthly or quarterly; all of them if not given' '--limit	Show at most this many a level; 0 for all' '-n	Show at most this many a level; 0 for all'
            set args any
            set more any
            switch $option
                case --level
                    set kind '=quarterly
monthly
weekly
daily'
                case --limit -n
                    set kind any
            end
        case 'hierarchy drill'
            set opts '--width	Nodes followed at each level (default 3)' '--limit	Show at most this many lines; 0 for all' '-n	Show at most this many lines; 0 for all'
            set args any
            set more any
            switch $option
                case --width --limit -n
                    set kind any
            end
        case checkpoint
            set subs 'latest	Print the latest checkpoint' 'list	List the checkpoints, oldest first' 'restore	Put the latest checkpoint into Beliefs.md, once'
            set opts '--context	What you are doing; - reads standard input' '-c	What you are doing; - reads standard input' '--decision	A decision that holds; may repeat' '--finding	Something found out; may repeat' '--question	An open question; may repeat' '--next	A next step; may repeat'
            switch $option
                case --context -c --decision --finding --question --next
                    set kind any
            end
        case belief
            set subs 'add	Add a belief to Beliefs.md, as a row where beliefs stand in tables, else as a section' 'revise	Change a belief in its place; only its own lines change' 'list	List the beliefs in the order of the file, with their places'
        case 'belief add'
            set opts '--certainty	0 to 1' '--source	Where it comes from' '--supports	A goal it supports; may repeat' '--group	The heading that it goes under' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--by	Who vouches for more trust than such a source has; logged'
            set args any any
            switch $option
                case --certainty --source --group --by
                    set kind any
                case --supports
                    set kind goals
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'belief revise'
            set opts '--certainty	The new certainty, 0 to 1' '--value	What holds now, in place of its value or text' '--source	The new source' '--reason	Why; kept in the revision log of the file, if it has one' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--by	Who vouches for more trust than such a source has; logged'
            set args beliefs
            switch $option
                case --certainty --value --source --reason --by
                    set kind any
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'belief list'
            set opts '--min-certainty	Only beliefs at least this certain' '--status	Only those with this status: active, superseded, ..'
            switch $option
                case --min-certainty --status
                    set kind any
            end
        case desire
            set subs 'add	Add a desire to Desires.md, in the shape that the file has' 'list	List the desires in the order of the file, with their places'
        case 'desire add'
            set opts '--priority	0 to 1, or critical, high, medium, low' '--motivates	A goal that it motivates; may repeat' '--status	active, dormant, withdrawn, ..' '--group	The heading that it goes under'
            set args any
            switch $option
                case --priority
                    set kind '=critical
high
medium
low'
                case --motivates
                    set kind goals
                case --status --group
                    set kind any
            end
        case 'desire list'
            set opts '--status	Only those with this status: active, dormant, ..'
            switch $option
                case --status
                    set kind any
            end
        case goal
            set subs 'add	Add a goal to Goals.md, in the shape that the file has' 'update	Change a goal in its place' 'list	List the goals in the order of the file, with their places' 'tree	Show goals below the goals that they are part of, with the desires, plans and beliefs behind each'
        case 'goal add'
            set opts '--level	strategic, tactical or operational' '--priority	0 to 1, or critical, high, medium, low' '--deadline	Until when' '--parent	The goal that it is a part of' '--desire	A desire behind it; may repeat' '--requires	A plan that it requires; may repeat' '--group	The heading that it goes under; else that of its level'
            set args any
            switch $option
                case --level
                    set kind '=strategic
tactical
operational'
                case --priority
                    set kind '=critical
high
medium
low'
                case --deadline --group
                    set kind any
                case --parent
                    set kind goals
                case --desire
                    set kind desires
                case --requires
                    set kind plans
            end
        case 'goal update'
            set opts '--status	active, achieved, abandoned, ..' '--progress	How far it is' '--priority	0 to 1, or critical, high, medium, low' '--deadline	The new deadline' '--reason	Why; kept in the revision log of the file, if it has one'
            set args goals
            switch $option
                case --status --progress --deadline --reason
                    set kind any
                case --priority
                    set kind '=critical
high
medium
low'
            end
        case 'goal list'
            set opts '--status	Only those with this status: active, achieved, ..'
            switch $option
                case --status
                    set kind any
            end
        case intention
            set subs 'add	Add an intention to Intentions.md, in the shape that the file has' 'progress	Note progress: the date of the last update, how far it is, and a word about it' 'complete	Mark an intention as completed, in its place and dated' 'drop	Mark an intention as dropped, in its place and dated' 'list	List the intentions in the order of the file, with their places'
        case 'intention add'
            set opts '--goal	The goal that it serves' '--plan	The plan that it follows' '--deadline	Until when' '--group	The heading that it goes under'
            set args any
            switch $option
                case --goal
                    set kind goals
                case --plan
                    set kind plans
                case --deadline --group
                    set kind any
            end
        case 'intention progress'
            set opts '--percent	How far it is now' '--deadline	The new deadline'
            set args intentions any
            switch $option
                case --percent --deadline
                    set kind any
            end
        case 'intention complete'
            set opts '--outcome	What came of it'
            set args intentions
            switch $option
                case --outcome
                    set kind any
            end
        case 'intention drop'
            set opts '--reason	Why it is given up'
            set args intentions
            switch $option
                case --reason
                    set kind any
            end
        case 'intention list'
            set opts '--status	Only those with this status: active, expired, ..'
            switch $option
                case --status
                    set kind any
            end
        case plan
            set subs 'add	Add a plan to Plans.md, with its steps as a list of boxes' 'step	Add a step to a plan, or mark one as done, in the shape that the plan has' 'list	List the plans in the order of the file, with how far they are'
        case 'plan add'
            set opts '--goal	A goal that requires it; may repeat' '--step	A step, in order; may repeat'
            set args any
            switch $option
                case --goal
                    set kind goals
                case --step
                    set kind any
            end
        case 'plan step'
            set opts '--done	A step that is done: its name or number'
            set args plans any
            switch $option
                case --done
                    set kind any
            end
        case 'plan list'
            set opts '--steps	With all steps'
        case commitment
            set subs 'add	Add a commitment to Commitments.md, in the shape that the file has' 'list	List the commitments in the order of the file, with their places'
        case 'commitment add'
            set opts '--to	To whom' '--deadline	Until when' '--due	Until when' '--status	open, kept, broken, ..' '--group	The heading that it goes under'
            set args any
            switch $option
                case --to --deadline --due --status --group
                    set kind any
            end
        case 'commitment list'
            set opts '--status	Only those with this status: open, kept, ..'
            switch $option
                case --status
                    set kind any
            end
        case learning
            set subs 'add	Add a lesson to Learnings.md, dated, in the shape that the file has' 'list	List the lessons in the order of the file, with their places'
        case 'learning add'
            set opts '--source	What taught it' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--by	Who vouches for more trust than such a source has; logged'
            set args any any
            switch $option
                case --source --by
                    set kind any
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case bdi
            set subs 'cycle	Prune intentions, sort desires, compare beliefs, and report what they disagree about' 'status	Show how much an agent holds in mind, what the next cycle would end, and open conflicts' 'conflicts	List the beliefs that contradict each other, with their places and what to do' 'resolve	Settle a conflict for good'
        case 'bdi cycle'
            set opts '--all	All agents of the workspace' '--dry-run	Show what would happen' '--check	Exit 7 when beliefs conflict' '--compacted	Restore the latest checkpoint: the context was compacted' '--watch	Stay, and run again after 30m, 1h, .'
            switch $option
                case --watch
                    set kind any
            end
        case 'bdi conflicts'
            set opts '--floor	Only beliefs that are more certain than this (default 0.6)' '--check	Exit 7 when there are any' '--all	Resolved ones too'
            switch $option
                case --floor
                    set kind any
            end
        case 'bdi resolve'
            set opts '--keep	a, b, or both when they can hold together' '--reason	Why; kept with the resolution'
            set args any
            switch $option
                case --keep
                    set kind '=a
b
both'
                case --reason
                    set kind any
            end
        case fact
            set subs 'assert	Add a fact, or update the one that says the same' 'extract	List the facts that a text or the memories say, with citations; assert some of them' 'retract	Take facts out; the archive keeps them' 'query	List the facts that match a pattern' 'explain	Show what a fact rests on, back to asserted facts and rules' 'current	Show what holds of a subject now; of a functional predicate only the latest word' 'timeline	Show how what is known of a subject came about: facts in the order of their time, retracted and updated ones too' 'lint	Find contradictions, support that is gone or expired, and what ontologies say cannot be' 'import	Assert facts from NDJSON, CSV or Turtle, all or none; derived ones are left out' 'export	Print the facts as NDJSON, CSV or Turtle'
        case 'fact assert'
            set opts '--confidence	0 to 1' '--source	Where it comes from' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--by	Who vouches for more trust than such a source has; logged' '--from	Since when it holds' '--until	Until when it holds, that day included'
            set args any any any
            switch $option
                case --confidence --source --by --from --until
                    set kind any
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'fact extract'
            set opts '--review	List candidates and write nothing, which is what it does anyway' '--apply	Assert these candidates of a review, or all' '--we	Whom we, our, I and my mean; such statements are left out without it' '--min-confidence	Only candidates at least this sure' '--source	Where the text comes from; a memory is its own source' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            set args any
            switch $option
                case --apply --we --min-confidence --source --limit -n
                    set kind any
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'fact retract'
            set opts '--subject	All asserted facts about it' '--predicate	All asserted facts with it' '--reason	Why; kept in the archive' '--cascade	Also drop the derived facts that rest on them alone' '--dry-run	Show what would happen'
            set args facts
            switch $option
                case --subject --predicate --reason
                    set kind any
            end
        case 'fact query'
            set opts '--min-confidence	Only facts at least this sure' '--valid-at	Only facts that hold then: today, 2026-03-01' '--no-derived	Only asserted facts' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all' '--shared	Also those of the other agents that share their memory'
            set args any any any
            switch $option
                case --min-confidence --valid-at --limit -n
                    set kind any
            end
        case 'fact explain'
            set opts '--depth	How far down to go'
            set args facts
            switch $option
                case --depth
                    set kind any
            end
        case 'fact current'
            set opts '--at	At another time than now'
            set args any
            switch $option
                case --at
                    set kind any
            end
        case 'fact timeline'
            set args any
        case 'fact lint'
            set opts '--check	Exit 7 when there are findings'
        case 'fact import'
            set opts '--format	ndjson, csv or turtle; else by the name of the file' '--source	Where facts come from that do not say so' '--trust	trusted, agent or untrusted: for facts that do not say, and the most for those that do' '--by	Who vouches for more trust than such a source has; logged'
            set args files
            switch $option
                case --format
                    set kind '=ndjson
csv
turtle'
                case --source --by
                    set kind any
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'fact export'
            set opts '--format	ndjson, csv or turtle' '--no-derived	Only asserted facts'
            switch $option
                case --format
                    set kind '=ndjson
csv
turtle'
            end
        case rule
            set subs 'create	Add a rule' 'list	List the rules; those that cannot run are said to be so' 'show	Show one rule, part by part' 'toggle	Switch a rule on or off' 'delete	Take a rule out; the archive keeps it' 'test	Show what one rule matches now and what it would derive, without writing anything'
        case 'rule create'
            set opts '--name	What to call it' '--type	inference, constraint or policy; else by what is given' '--condition	A condition, in words or as JSON; may repeat' '--conclusion	What follows, in words or as JSON' '--message	Constraint: what to say; ?x is filled in' '--severity	Constraint: info, warning, error or critical' '--action	Policy: what to do; ?x is filled in' '--escalate	Policy: somebody must be told' '--factor	Inference: what a conclusion keeps of the confidence' '--description	More about it' '--domain	The domain that it belongs to'
            set args any
            switch $option
                case --name --condition --conclusion --message --action --factor --description --domain
                    set kind any
                case --type
                    set kind '=inference
constraint
policy'
                case --severity
                    set kind '=info
warning
error
critical'
            end
        case 'rule list'
            set opts '--type	Only inference, constraint or policy'
            switch $option
                case --type
                    set kind '=inference
constraint
policy'
            end
        case 'rule show'
            set args rules
        case 'rule toggle'
            set opts '--on	Which; else the other one' '--off	Which; else the other one'
            set args rules
        case 'rule delete'
            set args rules
        case 'rule test'
            set opts '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            set args rules
            switch $option
                case --limit -n
                    set kind any
            end
        case infer
            set subs 'forward	Derive everything that follows from the asserted facts, each fact by its best derivation' 'backward	Say whether something follows, by which proof, and what is missing if it does not' 'abductive	Rank what would explain an observation, with what each needs to be assumed'
        case 'infer forward'
            set opts '--persist	Write what follows to facts-derived.json' '--max-facts	Derive this many at most; the surest are kept' '--min-confidence	Derive nothing less sure' '--max-depth	Rules in a row at most; 0 for no limit' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            switch $option
                case --max-facts --min-confidence --max-depth --limit -n
                    set kind any
            end
        case 'infer backward'
            set opts '--depth	Rules in a row at most'
            set args any any any
            switch $option
                case --depth
                    set kind any
            end
        case 'infer abductive'
            set opts '--depth	Rules in a row at most' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            set args any any any
            switch $option
                case --depth --limit -n
                    set kind any
            end
        case constraint
            set subs 'check	List the violations of constraints and of the rules of ontologies, the most severe first, with the facts behind each'
        case 'constraint check'
            set opts '--check	Exit 7 when a constraint is violated' '--severity	Only violations at least this severe: info, warning, error or critical' '--no-ontology	Only constraints of the agent, not the rules of ontologies'
            switch $option
                case --severity
                    set kind '=info
warning
error
critical'
            end
        case policy
            set subs 'eval	List the actions that policies ask for now, escalations first; --set asks what if'
        case 'policy eval'
            set opts '--set	A fact to assume for this time; may repeat'
            switch $option
                case --set
                    set kind any
            end
        case explain
            set opts '--depth	Rules in a row at most'
            set args any
            set more any
            switch $option
                case --depth
                    set kind any
            end
        case graph
            set subs 'neighbors	List what is near something, with the fact that leads there' 'path	Show the shortest way between two things, with the facts that justify each step' 'match	Find the projects and other things that an idea is about, and say why' 'export	Print the graph of facts for another program' 'impact	Show which goals, plans and intentions hang on an agent\'s beliefs, or which goals are behind'
        case 'graph neighbors'
            set opts '--hops	How many steps away' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            set args any
            switch $option
                case --hops --limit -n
                    set kind any
            end
        case 'graph path'
            set opts '--hops	How many steps at most'
            set args any any
            switch $option
                case --hops
                    set kind any
            end
        case 'graph match'
            set opts '--hops	How far from what it names' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            set args any
            switch $option
                case --hops --limit -n
                    set kind any
            end
        case 'graph export'
            set opts '--format	mermaid, dot or jsonld' '--around	Only what is near this' '--hops	How near'
            switch $option
                case --format
                    set kind '=mermaid
dot
jsonld'
                case --around --hops
                    set kind any
            end
        case 'graph impact'
            set opts '--conflict	What a conflict touches: its key, or the start of it' '--behind	The goals of all agents that are behind' '--level	With --behind: strategic, tactical or operational'
            set args any
            switch $option
                case --conflict
                    set kind any
                case --level
                    set kind '=strategic
tactical
operational'
            end
        case ontology
            set subs 'list	List the ontologies of the workspace, or what is proposed for them' 'show	Show what something means and where it belongs, or the class tree' 'propose	Propose a class or a property for an ontology' 'validate	Check proposals: duplicates, naming, parents, circles, definitions, domains and ranges; keep what was found' 'merge	Put proposals into their ontologies, all of them or none' 'reject	Reject a proposal; it stays in its file, with the reason' 'scaffold	Copy a ready ontology into the workspace; to one that is there only what it lacks is added' 'export	Print ontologies as JSON-LD, Turtle, N-Triples, a TypeQL schema or a DOT graph'
        case 'ontology list'
            set opts '--proposals	List proposals instead' '--status	Only proposals that are pending, approved or rejected'
            switch $option
                case --status
                    set kind '=pending
approved
rejected'
            end
        case 'ontology show'
            set opts '--tree	The class tree: all, of an ontology, or below a concept'
            set args any
        case 'ontology propose'
            set opts '--domain	The ontology that it is for' '--type	class, object_property, datatype_property' '--parent	The class above a class' '--definition	What it is, in the words of the business' '--synonym	Another word for it; may repeat' '--domain-class	The class that has a property' '--range	The class or datatype of its values' '--functional	It has one value at a time' '--rationale	Why it is needed' '--id	prefix:Name; else made from the label' '--by	Who proposes it; else the agent'
            set args any
            switch $option
                case --domain --parent --definition --synonym --domain-class --range --rationale --id
                    set kind any
                case --type
                    set kind '=class
object_property
datatype_property'
                case --by
                    set kind agents
            end
        case 'ontology validate'
            set opts '--check	Exit 7 when a proposal fails' '--allow-similar	Accept names that are only alike, not the same'
            set args proposals
            set more proposals
        case 'ontology merge'
            set opts '--all	All that wait' '--allow-similar	Accept names that are only alike, not the same' '--dry-run	Show what would happen'
            set args proposals
            set more proposals
        case 'ontology reject'
            set opts '--reason	Why; kept with the proposal'
            set args proposals
            switch $option
                case --reason
                    set kind any
            end
        case 'ontology scaffold'
            set opts '--as	The name of the ontology here'
            set args any
            switch $option
                case --as
                    set kind any
            end
        case 'ontology export'
            set opts '--format	jsonld, turtle, ntriples or typeql'
            set args any
            switch $option
                case --format
                    set kind '=jsonld
turtle
ntriples
typeql'
            end
        case case
            set subs 'store	Keep a case: the situation, what was done, what came of it' 'list	List cases, the latest first' 'show	Show all of a case, live or archived, and how it changed' 'revise	Note what came of a reuse: it counts as a use, and the earlier values stay known' 'retrieve	Find the cases that are like the present situation, and what worked then'
        case 'case store'
            set opts '--belief	A belief, by id or in words; commas separate, may repeat' '--desire	A desire, likewise' '--context	The situation in words' '--plan	The plan that was used: P-001' '--action	What was done; may repeat, in order' '--success	How it went; else it is open' '--failure	How it went; else it is open' '--metric	A result; may repeat' '--lessons	What was learned' '--from	Take what is not given from this case: an adaptation' '--from-mind	Add the beliefs and desires of the agent\'s files' '--batch	Cases as NDJSON or a case file; - reads standard input' '--source	Where it comes from, if not from the agent\'s own experience' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--by	Who vouches for more trust than such a source has; logged'
            switch $option
                case --belief --desire --context --plan --action --metric --lessons --source --by
                    set kind any
                case --from
                    set kind cases
                case --batch
                    set kind files
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'case list'
            set opts '--success	Only those that worked, or that failed' '--failure	Only those that worked, or that failed' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            switch $option
                case --limit -n
                    set kind any
            end
        case 'case show'
            set args cases
        case 'case revise'
            set opts '--success	How it went; else it is open' '--failure	How it went; else it is open' '--metric	A result; may repeat' '--lessons	What was learned' '--plan	The plan that was used: P-001' '--action	What was done; may repeat, in order' '--context	The situation in other words' '--correct	Only a correction: no use of the case is counted' '--trust	trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)' '--by	Who vouches for more trust than such a source has; logged'
            set args cases
            switch $option
                case --metric --lessons --plan --action --context --by
                    set kind any
                case --trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'case retrieve'
            set opts '--belief	A belief that holds now, as in store; without any, those of the agent\'s files' '--desire	A desire, likewise' '--context	The situation in words, compared by words and meaning' '--success-only	Only cases that worked' '--min-score	Only cases at least this near' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            switch $option
                case --belief --desire --context --min-score --limit -n
                    set kind any
            end
        case reason
            set subs 'solve	Reason about a problem; the word solve may be left out' 'list	List the methods, by category' 'show	Show what a method is for, and its worksheet' 'outcome	Say whether a kept conclusion turned out right; calibration and learning-to-reason use it' 'history	List the kept results, the latest first, with what became of them'
            set opts '--method	The method: see mabos reason list' '-m	The method: see mabos reason list' '--methods	Several methods, with commas: their results are fused' '--input	Input as YAML or JSON, or a worksheet filled in; - reads standard input' '--classify	What the problem is like, as in domain=social,stakes=high: picks the method, or weighs several' '--save	Keep the result: a memory, and a record that outcome can score'
            set args any
            switch $option
                case --method -m
                    set kind '=deductive	What follows from premises with certainty: proves or refutes a statement.
inductive	What generally holds, from observed instances: how far a pattern can be trusted.
abductive	Which explanation accounts best for what was observed.
analogical	What carries over from a known situation with the same structure.
modal	What must be and what may be, over possible worlds.
deontic	What is obligatory, permitted or forbidden, and where norms clash.
temporal	How events lie in time: which orders are possible, and what must come before.
default	What normally holds unless something speaks against it.
constraint-satisfaction	An assignment that meets all constraints, or why there is none.
fuzzy	A verdict from matters of degree, by rules in words.
bayesian	How evidence changes what to believe.
decision-theory	Which act to choose when the state of the world is unknown: several criteria side by side.
expected-utility	Which option has the highest expected utility, with an attitude to risk.
info-theory	Which question is worth asking first, and what the answer is worth.
monte-carlo	The range of outcomes of a model with uncertain inputs, by simulation.
causal	Whether and how strongly one thing causes another, apart from what confounds them.
counterfactual	What would have happened if something had been otherwise.
interventional	What will happen if we set something ourselves.
root-cause	Which basic faults account for a failure, and which to mend first.
systems-thinking	Which feedback loops drive a system, and where to act.
heuristic	Which option is better by the first cue that tells them apart.
case-based	What worked before in a situation like this.
pattern-recognition	Which known pattern a situation shows, by the nearest examples.
satisficing	The first option that is good enough on every count.
naturalistic	The course of action that experience suggests, played through before it is taken.
game-theory	What players do who all do their best against each other.
negotiation	What a fair and lasting deal is, given what each can walk away to.
social-choice	What a group prefers, by several rules of voting.
argumentation	Which arguments stand when all attacks are weighed.
stakeholder	Who matters, who is for it, and whom to approach how.
meta-cognitive	What is known, assumed and missing, and whether more thought is worth it.
strategy-selection	Which method to use here, by fit and by how it has done.
learning-to-reason	What past results teach about which method works for what.
reflection	What was expected, what happened, why, and what to do differently.
calibration	Whether stated confidence matches what came true.'
                case --methods --classify
                    set kind any
                case --input
                    set kind files
            end
        case 'reason solve'
            set opts '--method	The method: see mabos reason list' '-m	The method: see mabos reason list' '--methods	Several methods, with commas: their results are fused' '--input	Input as YAML or JSON, or a worksheet filled in; - reads standard input' '--classify	What the problem is like, as in domain=social,stakes=high: picks the method, or weighs several' '--save	Keep the result: a memory, and a record that outcome can score'
            set args any
            switch $option
                case --method -m
                    set kind '=deductive	What follows from premises with certainty: proves or refutes a statement.
inductive	What generally holds, from observed instances: how far a pattern can be trusted.
abductive	Which explanation accounts best for what was observed.
analogical	What carries over from a known situation with the same structure.
modal	What must be and what may be, over possible worlds.
deontic	What is obligatory, permitted or forbidden, and where norms clash.
temporal	How events lie in time: which orders are possible, and what must come before.
default	What normally holds unless something speaks against it.
constraint-satisfaction	An assignment that meets all constraints, or why there is none.
fuzzy	A verdict from matters of degree, by rules in words.
bayesian	How evidence changes what to believe.
decision-theory	Which act to choose when the state of the world is unknown: several criteria side by side.
expected-utility	Which option has the highest expected utility, with an attitude to risk.
info-theory	Which question is worth asking first, and what the answer is worth.
monte-carlo	The range of outcomes of a model with uncertain inputs, by simulation.
causal	Whether and how strongly one thing causes another, apart from what confounds them.
counterfactual	What would have happened if something had been otherwise.
interventional	What will happen if we set something ourselves.
root-cause	Which basic faults account for a failure, and which to mend first.
systems-thinking	Which feedback loops drive a system, and where to act.
heuristic	Which option is better by the first cue that tells them apart.
case-based	What worked before in a situation like this.
pattern-recognition	Which known pattern a situation shows, by the nearest examples.
satisficing	The first option that is good enough on every count.
naturalistic	The course of action that experience suggests, played through before it is taken.
game-theory	What players do who all do their best against each other.
negotiation	What a fair and lasting deal is, given what each can walk away to.
social-choice	What a group prefers, by several rules of voting.
argumentation	Which arguments stand when all attacks are weighed.
stakeholder	Who matters, who is for it, and whom to approach how.
meta-cognitive	What is known, assumed and missing, and whether more thought is worth it.
strategy-selection	Which method to use here, by fit and by how it has done.
learning-to-reason	What past results teach about which method works for what.
reflection	What was expected, what happened, why, and what to do differently.
calibration	Whether stated confidence matches what came true.'
                case --methods --classify
                    set kind any
                case --input
                    set kind files
            end
        case 'reason list'
            set opts '--category	formal, probabilistic, causal, experience, social or meta'
            switch $option
                case --category
                    set kind '=formal
probabilistic
causal
experience
social
meta'
            end
        case 'reason show'
            set opts '--schema	Print the JSON Schema of its input instead'
            set args '=deductive	What follows from premises with certainty: proves or refutes a statement.
inductive	What generally holds, from observed instances: how far a pattern can be trusted.
abductive	Which explanation accounts best for what was observed.
analogical	What carries over from a known situation with the same structure.
modal	What must be and what may be, over possible worlds.
deontic	What is obligatory, permitted or forbidden, and where norms clash.
temporal	How events lie in time: which orders are possible, and what must come before.
default	What normally holds unless something speaks against it.
constraint-satisfaction	An assignment that meets all constraints, or why there is none.
fuzzy	A verdict from matters of degree, by rules in words.
bayesian	How evidence changes what to believe.
decision-theory	Which act to choose when the state of the world is unknown: several criteria side by side.
expected-utility	Which option has the highest expected utility, with an attitude to risk.
info-theory	Which question is worth asking first, and what the answer is worth.
monte-carlo	The range of outcomes of a model with uncertain inputs, by simulation.
causal	Whether and how strongly one thing causes another, apart from what confounds them.
counterfactual	What would have happened if something had been otherwise.
interventional	What will happen if we set something ourselves.
root-cause	Which basic faults account for a failure, and which to mend first.
systems-thinking	Which feedback loops drive a system, and where to act.
heuristic	Which option is better by the first cue that tells them apart.
case-based	What worked before in a situation like this.
pattern-recognition	Which known pattern a situation shows, by the nearest examples.
satisficing	The first option that is good enough on every count.
naturalistic	The course of action that experience suggests, played through before it is taken.
game-theory	What players do who all do their best against each other.
negotiation	What a fair and lasting deal is, given what each can walk away to.
social-choice	What a group prefers, by several rules of voting.
argumentation	Which arguments stand when all attacks are weighed.
stakeholder	Who matters, who is for it, and whom to approach how.
meta-cognitive	What is known, assumed and missing, and whether more thought is worth it.
strategy-selection	Which method to use here, by fit and by how it has done.
learning-to-reason	What past results teach about which method works for what.
reflection	What was expected, what happened, why, and what to do differently.
calibration	Whether stated confidence matches what came true.'
        case 'reason outcome'
            set opts '--happened	Whether the conclusion was right' '--note	What there is to learn'
            set args results
            switch $option
                case --happened
                    set kind '=yes
no'
                case --note
                    set kind any
            end
        case 'reason history'
            set opts '--open	Only results without an outcome' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all'
            switch $option
                case --limit -n
                    set kind any
            end
        case typedb
            set subs 'status	Say whether a server is configured and answers, and how far each agent is mirrored' 'sync-schema	Make the database if needed, and define the types that agents and ontologies need' 'sync-agent	Bring the mirror of an agent up to date with its files' 'query	Run a TypeQL query that reads, and print its rows as JSON' 'seed-goals	Give a business its goals, desires, plans and beliefs'
        case 'typedb sync-schema'
            set opts '--dry-run	Show what would happen'
        case 'typedb sync-agent'
            set opts '--all	All agents of the workspace' '--check	Exit 7 when the server refused something' '--strict	Exit 7 when the server refused something'
            set args agents
        case 'typedb query'
            set opts '--full	All rows, however many' '--database	Another database of the server'
            set args any
            switch $option
                case --database
                    set kind any
            end
        case 'typedb seed-goals'
            set opts '--create-agents	Make the agents that are not there' '--dry-run	Show what would happen'
            set args files
        case context
            set subs 'index	Print the memory index, and bring INDEX.md and the domain files up to date' 'observations	Print what became a memory in the last days, and keep it in memory/observations.md' 'pack	Pack what memory knows about a request: cited lines in a frame, never over budget' 'build	Build the messages for a request: persona, skills, memory, conversation, each within its share of the window' 'compress	Shorten a conversation to a budget: the last messages whole, what is critical kept, the rest summed up' 'audit	Count what memory costs by source, and find what stands there twice or is never used' 'flush-check	Say whether memory should be flushed now, before the context is compacted' 'flush-prompt	Print what to tell the agent before its context is compacted'
        case 'context index'
            set opts '--no-write	Only print it; leave INDEX.md and the domains as they are'
        case 'context observations'
            set opts '--no-write	Only print it; leave the file as it is'
        case 'context pack'
            set opts '--budget	At most this many tokens (default 1200)' '-b	At most this many tokens (default 1200)' '--history	A conversation (JSON, or a host\'s JSON lines) whose last turns are kept' '--tail	How many last turns of --history are kept (default 4)' '--min-trust	Only what is at least agent or trusted; turns of user and assistant are always kept' '--limit	Show at most this many; 0 for all' '-n	Show at most this many; 0 for all' '--live	Leave out what expired or went unused, and is archived' '--trace	Say of each candidate why it is in or out, without its content' '--no-use	Do not count what is packed as used'
            set args any
            set more any
            switch $option
                case --budget -b --tail --limit -n
                    set kind any
                case --history
                    set kind files
                case --min-trust
                    set kind '=trusted
agent
untrusted'
            end
        case 'context build'
            set opts '--request	What the agent is asked; - reads standard input' '--system	What the agent is told first (default: its persona files and INDEX.md)' '--skills	A skill in Markdown, or a folder of them' '--history	The conversation: JSON, or a host\'s JSON lines; - reads standard input' '--window	Tokens of the model\'s window (default 200000)' '--messages-only	Print just the JSON array of messages, to pipe into a provider'
            switch $option
                case --request --window
                    set kind any
                case --system --skills --history
                    set kind files
            end
        case 'context compress'
            set opts '--history	The conversation: JSON, or a host\'s JSON lines; - reads standard input' '--budget	Tokens (default: the conversation\'s share of the window)' '-b	Tokens (default: the conversation\'s share of the window)' '--keep	Last messages that stay as they are (default 6)' '--llm	Let the language model write the summary' '--messages-only	Print just the JSON array of messages, to pipe into a provider'
            switch $option
                case --history
                    set kind files
                case --budget -b --keep
                    set kind any
            end
        case 'context audit'
            set opts '--scope	all, memory_md, domains or system_prompt' '--recommend	Say what could be done, and what it saves' '--skills	A skill in Markdown, or a folder of them, that the host loads' '--check	Exit 7 when what is always loaded is above --max-tokens' '--max-tokens	For --check: tokens that may always be loaded'
            switch $option
                case --scope
                    set kind '=all
memory_md
domains
system_prompt'
                case --skills
                    set kind files
                case --max-tokens
                    set kind any
            end
        case 'context flush-check'
            set opts '--total-tokens	Tokens in the context now' '--window	Size of the context window' '--compaction-count	Compactions so far; answers yes at most once for each' '--session	The session whose compactions are counted' '--soft	Tokens before the reserve at which to flush (default 4000)' '--reserve	Tokens kept free for the answer (default 8000)'
            switch $option
                case --total-tokens --window --compaction-count --session --soft --reserve
                    set kind any
            end
        case index
            set subs 'sync	Bring the index up to date with the files' 'status	Say what the index and memory hold, how vectors are compared, and whether the index is fresh' 'search	Show what each lane of the index finds, without counting it as a use'
        case 'index sync'
            set opts '--rebuild	Build a new index beside the old one, then swap them' '--watch	Stay, and follow changes until interrupted'
        case 'index search'
            set opts '--limit	Show at most this many a lane; 0 for all' '-n	Show at most this many a lane; 0 for all'
            set args any
            set more any
            switch $option
                case --limit -n
                    set kind any
            end
        case report
            set opts '--output	Where the page goes; - prints it' '-o	Where the page goes; - prints it' '--all	All agents, even if MABOS_AGENT names one' '--force	Replace a file that is no report of ours'
            switch $option
                case --output -o
                    set kind files
            end
        case git
            set subs 'install	Register the merge driver in this clone, and say in .gitattributes what it merges' 'merge	Merge three versions of a file by what they hold'
        case 'git install'
            set opts '--uninstall	Take it out again' '--dry-run	Show what would happen'
        case 'git merge'
            set args any any any any
        case review
            set opts '--all	All agents of the workspace' '--since	Since the last commit before a date, or an age such as 7d' '--limit	Show at most this many a section; 0 for all' '-n	Show at most this many a section; 0 for all'
            set args any
            switch $option
                case --since --limit -n
                    set kind any
            end
        case connect
            set opts '--user	Settings in your home, for all projects, not those of this project' '--project	The folder of the project; else the repository or workspace here' '--dry-run	Show what would happen'
            set args '=claude
codex
gemini
cursor
openclaw
opencode'
            switch $option
                case --project
                    set kind folders
            end
        case disconnect
            set opts '--user	Settings in your home, for all projects, not those of this project' '--project	The folder of the project; else the repository or workspace here' '--all	Every host that was connected from here' '--dry-run	Show what would happen'
            set args '=claude
codex
gemini
cursor
openclaw
opencode'
            switch $option
                case --project
                    set kind folders
            end
        case hook
            set opts '--host	Who calls; else it is found by what is sent'
            set args any
            switch $option
                case --host
                    set kind '=claude
codex
gemini
cursor
openclaw
opencode'
            end
        case skill
            set opts '--format	skill: a SKILL.md; agents: a section for AGENTS.md, between marks' '--output	Write it there; other text in AGENTS.md stays' '-o	Write it there; other text in AGENTS.md stays'
            switch $option
                case --format
                    set kind '=skill
agents'
                case --output -o
                    set kind files
            end
        case doctor
            set opts '--repair	Mend what can be mended without guessing' '--check	Exit 7 when anything needs attention' '--security	Instead look for what makes the whole workspace risky'
        case allow
            set opts '--show	Only list them, and whether they are allowed'
        case schedule
            set subs 'show	Show the jobs, when each runs, and whether they are installed' 'install	Have the jobs run by themselves; again after a change of settings' 'uninstall	Take the jobs of this workspace out again, and nothing else' 'run	Run the commands of a job for every agent, or for the one given by --agent, one after the other'
        case 'schedule show'
            set opts '--format	The text of it: systemd or cron'
            switch $option
                case --format
                    set kind '=systemd
cron'
            end
        case 'schedule install'
            set opts '--user	Timers of your systemd' '--cron	Lines in your crontab' '--dry-run	Show what would happen'
        case 'schedule uninstall'
            set opts '--user	Timers of your systemd' '--cron	Lines in your crontab' '--dry-run	Show what would happen'
        case 'schedule run'
            set args '=cycle	beliefs, desires and intentions in order
sync	the search index up to date
nightly	the day into long-term memory, what is old into the archive
weekly	summaries of weeks, months and quarters'
        case mcp
            set opts '--tools	List these families of tools, tools by name, or all; else a dozen for every day' '--read-only	Only tools that change nothing' '--structured	Answer with structured content in place of text, for programs' '--list	Print the tools instead of serving them'
            switch $option
                case --tools
                    set kind any
            end
        case completion
            set args '=bash
zsh
fish'
        case demo
            set args folders
        case config
            set args '=memory.default_type	type of an item when --type is not given
types.event	store of event items, and how long they may go unused before they leave it
types.decision	store of decision items, and how long they may go unused before they leave it
types.outcome	store of outcome items, and how long they may go unused before they leave it
types.lesson	store of lesson items, and how long they may go unused before they leave it
types.fact	store of fact items, and how long they may go unused before they leave it
types.observation	store of observation items, and how long they may go unused before they leave it
types.preference	store of preference items, and how long they may go unused before they leave it
types.instruction	store of instruction items, and how long they may go unused before they leave it
types.project	store of project items, and how long they may go unused before they leave it
types.person	store of person items, and how long they may go unused before they leave it
types.insight	store of insight items, and how long they may go unused before they leave it
types.plan	store of plan items, and how long they may go unused before they leave it
memory.working_capacity	items in working memory; more demotes the least recently used
memory.short_term_capacity	items in short-term memory; more archives the least important
memory.short_term_ttl	how long short-term items live before they are archived
memory.split_above	long-term items above which the store splits into monthly pages
memory.materialize_split_above	long-term items above which mabos-memory-items.md splits into pages
memory.page_items	items on one page; a fuller month gets a second page
memory.max_content_bytes	largest content of one item
memory.duplicate_threshold	likeness above which a pack shows one of two texts
memory.related_threshold	likeness from which two long-term items are linked
memory.access_journal_lines	lines of uses journalled before paged long-term items are rewritten
consolidation.min_importance	importance from which an item is consolidated
consolidation.min_access	uses from which a short-term item is consolidated
consolidation.jaccard	share of common tags above which items are grouped
log.min_importance	importance from which log consolidate takes an event
log.consolidate_after	age from which log consolidate takes events
log.recurring_days	days of 30 on which an event must be told to count as recurring
log.archive_after	age from which log archive moves a daily log
lifecycle.high_unused	how long an item of importance 0.8 or more may go unused at least, whatever its type
lifecycle.notice	how long before that an item counts as fading
lifecycle.fuse	share of live items that one lifecycle run archives at most, without --yes
memory.shared	whether other agents may read this one\'s memory: recall --shared
recall.limit	results of a recall
recall.preset	how the signals of a hit are weighed
recall.pool	candidates that each lane offers at least; more for a larger limit
recall.candidate_multiplier	candidates of each lane for each result
recall.mmr_lambda	relevance against novelty, for --mmr
recall.half_life	age at which --decay halves a score
recall.importance_weight	weight of importance in the score; the rest is relevance
recall.depth_hits	hits that are followed at each level of depth
recall.depth_terms	new terms taken from each followed hit
recall.depth_reserved	share of the results reserved for deeper finds
index.vectors	how vectors are compared; auto takes the best there is
index.passage_tokens	tokens of a passage of a file, at most
index.overlap_tokens	tokens that a passage repeats of the one before it
index.item_tokens	tokens of a passage of a memory item, at most
index.max_file_bytes	larger files are left out of the index
index.wait	how long recall waits for another process that writes the index
embeddings.provider	what turns text into vectors
embeddings.model	model of a provider that has several
embeddings.url	address of a provider reached over HTTP
embeddings.path	folder of a local model
embeddings.timeout	how long one request to a provider may take
llm.command	a program that reads a prompt on standard input and writes text; off when empty
llm.url	address of an OpenAI-compatible service that writes text; off when empty
llm.model	model that the service at llm.url is asked for
llm.timeout	how long a program, or one request to a service, may take to write
llm.max_questions	questions that one command with --llm may put to the model
grade.base	heuristic-v1: what every memory starts with
grade.decision	heuristic-v1: added for a decision
grade.important	heuristic-v1: added for the word important
grade.remember	heuristic-v1: added for the word remember
grade.recurring	heuristic-v1: added when it recurs
grade.must_remember	importance from which an item must be remembered
grade.nice_to_have	importance from which an item is nice to have
capture.max_bytes	text of one observation, at most; its middle is left out
migrate.max_tokens	size above which migrate cuts an entry at its paragraphs
migrate.min_tokens	size below which migrate leaves an entry out
harvest.min_importance	importance from which harvest takes an observation
harvest.review	whether a harvest keeps nothing by itself: candidates wait for harvest --apply
harvest.person_trust	how far what a person said in a session is trusted
harvest.local_tools	more tools of hosts whose answers bring nothing from outside; after any other, an agent\'s words are untrusted
harvest.chunk	observations that harvest stores at a time under the agent\'s lock
flush.soft_tokens	tokens left before the reserve at which memory is flushed
flush.reserve_tokens	tokens kept free for the answer
bdi.certainty_floor	certainty that both of two beliefs must exceed to conflict
facts.materialize_split_above	facts above which mabos-facts.md splits into pages
bdi.chunk	beliefs that a cycle processes at a time
bdi.open_minded	how long an open-minded agent leaves an intention alone
bdi.cautious	how long a cautious agent does
cbr.max_cases	cases that are kept; beyond that the least useful leave
cbr.belief_weight	weight of beliefs in how near a case is
cbr.desire_weight	weight of desires in how near a case is
cbr.context_weight	weight of the context in how near a case is, for --context
hierarchy.week_bytes	bytes of a weekly summary, about
hierarchy.month_bytes	bytes of a monthly summary, about
hierarchy.quarter_bytes	bytes of a quarterly review, about
hierarchy.width	children that drill follows at each level, at most
typedb.address	host:port of a TypeDB 3 server that mirrors the files; off when empty
typedb.database	its database; when empty, mabos_ and the workspace\'s folder name
typedb.user	who logs in there; the password is in MABOS_TYPEDB_PASSWORD
typedb.tls	whether the connection to TypeDB is encrypted
typedb.tls_ca	file of certificates to trust; when empty, those of the system
typedb.connect_timeout	how long connecting to TypeDB may take
typedb.timeout	how long one transaction or request may take
context.tokenizer	what counts tokens; auto takes tiktoken if it is ready
context.window	tokens of a context window that context build fills
context.system_share	share of who the agent is, at most
context.skills_share	share of skills, at most
context.memory_share	share of what is remembered for the request
context.history_share	share of the conversation
context.request_share	share that a request has before it takes from others
context.reserve_share	share that is kept free for the answer
context.compact_at	share of the window from which to compact
context.flush_at	share of the window from which to save memory first
context.recent_messages	last messages that compression leaves as they are
audit.section_tokens	tokens of a section of MEMORY.md that are worth moving
audit.file_tokens	tokens above which a file is better split
context.index_tokens	INDEX.md stays under this many tokens; at least 400
context.observation_days	days that observations.md keeps, those on which something was stored
context.observation_tokens	tokens of observations.md, at most; at least 400
context.pack_budget	tokens of a pack, at most
context.fresh	how long what was stored, and a checkpoint, count as recent
context.hot_bonus	what being recent adds to a score in a pack
context.hot_share	share of a pack for what is recent, while others want room
context.cold_share	share of a pack for passages of files, while others want room
context.trusted_weight	what the score of something trusted is multiplied by in a pack
context.untrusted_weight	what that of something untrusted is multiplied by
context.tail_turns	last turns of a conversation that a pack keeps as they were said
context.tail_share	share of a pack that these turns may take
schedule.cycle	when bdi cycle runs by itself: 30m, 2h, 03:10, Sun 04:10, off
schedule.sync	when index sync does
schedule.nightly	when harvest, consolidate, log and lifecycle do
schedule.weekly	when hierarchy build does
schedule.delay	systemd waits up to this long, at random, so that not all starts at once
schedule.patience	how long a scheduled command waits for an agent\'s lock
schedule.name	the workspace in names of units; when empty, its folder\'s name
git.commit	whether what a command writes is committed to git, as --commit does
mcp.max_tokens	tokens that an answer of mabos mcp may have, at least 250; what is longer is cut
hook.harvest	whether the end of a session, and a compaction, start a harvest in the background
hook.prompt_budget	tokens of the pack that a hook adds to a prompt, at most
hook.min_trust	the least trust of what a hook adds to a prompt
secrets.refuse	whether store and update refuse what holds a secret
text.chars_per_token	characters that count as one token
lock.timeout	how long a writing command waits for the agent\'s lock'
    end
    set -a opts '--workspace	The workspace; else MABOS_WORKSPACE, else the nearest parent with mabos.yaml' '-w	The workspace; else MABOS_WORKSPACE, else the nearest parent with mabos.yaml' '--agent	The agent; else MABOS_AGENT, else the only one' '-a	The agent; else MABOS_AGENT, else the only one' '--json	Print one JSON object' '--quiet	Print nothing but errors and warnings' '-q	Print nothing but errors and warnings' '--verbose	Say more' '-v	Say more' '--lock-timeout	How long to wait for the agent\'s lock (default 10)' '--commit	Commit to git what the command writes, and nothing else' '--help	Show the help of a command' '-h	Show the help of a command'
    if test -z "$kind"
            switch "$option"
                case --workspace -w
                    set kind folders
                case --agent -a
                    set kind agents
                case --lock-timeout
                    set kind any
            end
    end
end

# Prints what is offered for $kind, behind $lead. The variables are the caller's.
function __mabos_offer --no-scope-shadowing
    switch "$kind"
        case any ''
        case files
            complete -C "'' $raw" | string replace -r '^' -- "$lead"
        case folders
            complete -C "'' $raw" | string match -r '^[^\t]*/(?=\t|$)' | string replace -r '^' -- "$lead"
        case '=*'
            string sub -s 2 -- $kind | string split \n | string replace -r '^' -- "$lead"
        case '*'
            $program complete $kind $where -- "$cur" 2>/dev/null | string replace -r '^' -- "$lead"
    end
end

function __mabos_where --no-scope-shadowing
    switch "$pending"
        case -w --workspace
            set -a where -w $word
        case -a --agent
            set -a where -a $word
    end
end

function __mabos_complete
    set -l raw (commandline -ct)
    set -l cur (string unescape -- "$raw"; or printf %s "$raw")
    set -l typed (commandline -opc)
    set -l program (string replace -r '^~' -- $HOME $typed[1])
    command -q $program; or set program mabos
    set -e typed[1]
    set -l at ''
    set -l pending ''
    set -l literal ''
    set -l option ''
    set -l lead ''
    set -l number 1
    set -l subs
    set -l opts
    set -l args
    set -l more
    set -l kind
    set -l where
    for word in $typed
        if test -n "$pending"
            __mabos_where
            set pending ''
        else if test -n "$literal"
            set number (math $number + 1)
        else if test "$word" = --
            set literal 1
        else if string match -q -- '--*=*' $word
            string split -m 1 = -- $word | read -L pending word
            __mabos_where
            set pending ''
        else if string match -q -- '-?*' $word
            set option $word
            __mabos_spec
            test -n "$kind"; and set pending $word
        else
            set option ''
            __mabos_spec
            if test $number = 1; and string match -q -- "$word"\t'*' $subs
                set at (string trim -- "$at $word")
            else
                set number (math $number + 1)
            end
        end
    end
    set option $pending
    __mabos_spec
    if test -n "$pending"
        __mabos_offer
    else if test -z "$literal"; and string match -q -- '--*=*' $cur
        string split -m 1 = -- $cur | read -L option cur
        set lead "$option="
        set raw (string replace -- "$lead" '' "$raw")
        __mabos_spec
        __mabos_offer
    else if test -z "$literal"; and string match -q -- '-*' $cur
        printf '%s\n' $opts
    else if test $number = 1; and set -q subs[1]
        printf '%s\n' $subs
    else
        set kind $more
        set -q args[$number]; and set kind $args[$number]
        __mabos_offer
    end
end

complete -k -c mabos -f -a '(__mabos_complete)'
