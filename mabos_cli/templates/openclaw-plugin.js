// Written by mabos connect openclaw; mabos disconnect openclaw removes it.
// Adds relevant memories to each prompt, and records messages where mabos harvest can read them.
{calls}
const ROLES = ["user", "assistant", "toolResult"];
const HOOKS = Symbol.for("mabos.hooks"); // set by the hooks of the gateway, which report compactions and ends of sessions themselves

function keep(messages, context) {
  const path = transcript(context.sessionId);
  let last = 0;
  try {
    last = Date.parse(JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").pop()).timestamp);
  } catch {
    begin(context.sessionId, context.workspaceDir ?? "", new Date(0));
  }
  const fresh = messages.filter((message) => ROLES.includes(message.role) && (message.timestamp ?? Date.now()) > last);
  const lines = fresh.map((message, number) => {
    const at = new Date(message.timestamp ?? Date.now()).toISOString();
    return JSON.stringify({ type: "message", id: `m${Date.parse(at)}-${number}`, parentId: null, timestamp: at, message }) + "\n";
  });
  appendFileSync(path, lines.join(""));
}

// The opening of a session is added to every prompt, because OpenClaw keeps no context of earlier prompts; it is refreshed after an hour.
const openings = new Map();
const HOUR = 3600000;

async function opening(context, isNew) {
  const known = openings.get(context.sessionId);
  if (known && Date.now() - known.at < HOUR) return known.text;
  const source = known?.at === 0 ? "compact" : isNew ? "startup" : "resume";
  const text = await mabos("session-start", payload("session_start", context, { source }));
  openings.set(context.sessionId, { text, at: Date.now() });
  return text;
}

const payload = (name, context, more) => about(name, context.sessionId ?? "", context.workspaceDir ?? "", more);
const isAsked = (context) => !context.trigger || context.trigger === "user";

export default {
  id: "mabos",
  name: "mabos",
  description: "Memory of agent {agent}",
  register(api) {
    api.on("before_prompt_build", async (event, context) => {
      if (!isAsked(context)) return;
      const prompt = event.currentUserMessage ?? event.prompt ?? "";
      const [start, found] = await Promise.all([
        opening(context, !event.messages?.length),
        mabos("user-prompt", payload("before_prompt_build", context, { prompt })),
      ]);
      return { ...(start && { appendSystemContext: start }), ...(found && { prependContext: found }) };
    });
    api.on("agent_end", async (event, context) => {
      if (!isAsked(context) || !context.sessionId) return;
      try {
        keep(event.messages ?? [], context);
      } catch {
        return;
      }
      await mabos("stop", payload("agent_end", context));
    });
    api.on("before_compaction", async (event, context) => {
      if (!globalThis[HOOKS]) await mabos("pre-compact", payload("before_compaction", context));
    });
    api.on("after_compaction", (event, context) => {
      openings.set(context.sessionId, { text: "", at: 0 });
    });
    api.on("session_end", async (event, context) => {
      openings.delete(context.sessionId);
      if (!globalThis[HOOKS]) await mabos("session-end", payload("session_end", context, { reason: event.reason ?? "" }));
    });
  },
};
