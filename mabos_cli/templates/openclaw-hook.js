// Written by mabos connect openclaw; mabos disconnect openclaw removes it.
// Tells memory that a session is about to be compacted, or has ended.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";

const PROGRAM = {program};
const OPTIONS = {arguments};
const SESSIONS = {sessions};

globalThis[Symbol.for("mabos.hooks")] = true;

function mabos(event, payload) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM[0], [...PROGRAM.slice(1), "hook", event, ...OPTIONS], {
      stdio: ["pipe", "ignore", "ignore"],
      timeout: 10000,
    });
    child.on("error", resolve);
    child.stdin.on("error", () => {});
    child.on("close", resolve);
    child.stdin.end(JSON.stringify(payload));
  });
}

function transcript(session, named) {
  const kept = join(SESSIONS, `${String(session).replace(/[^\w.-]/g, "_")}.jsonl`);
  if (existsSync(kept)) return kept;
  return typeof named === "string" && isAbsolute(named) && existsSync(named) ? named : "";
}

export default async function handler(event) {
  const context = event.context ?? {};
  const entry = context.previousSessionEntry ?? context.sessionEntry ?? {};
  const session = entry.sessionId ?? context.sessionId ?? "";
  const name = `${event.type}:${event.action}`;
  await mabos(name, {
    hook_event_name: name,
    session_id: session,
    cwd: context.workspaceDir ?? "",
    transcript_path: transcript(session, entry.sessionFile),
    reason: context.reason ?? event.action,
  });
}
