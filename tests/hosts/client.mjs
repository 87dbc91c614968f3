// Asks an MCP server what every host asks, with the TypeScript SDK; prints what it said as JSON.
// node client.mjs SDK_FOLDER COMMAND WORDS...
import { pathToFileURL } from "node:url";
const [sdk, command, ...args] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${sdk}/dist/esm/client/${path}.js`));
const { Client } = await load("index");
const { StdioClientTransport } = await load("stdio");

const client = new Client({ name: "tried", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const { prompts } = await client.listPrompts();
const called = await client.callTool({ name: "memory_recall", arguments: { query: "chrony" } });
console.log(JSON.stringify({ initialize: client.getServerVersion(), tools, prompts, called }));
await client.close();
