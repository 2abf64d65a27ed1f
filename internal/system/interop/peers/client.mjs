// A client on the TypeScript SDK that drives any agent which behaves as README.md says:
//   node client.mjs FOLDER COMMAND [ARGS...]    an agent that it starts
//   node client.mjs FOLDER URL                  one that listens, with the scheme http or ws
// It checks what it sees and prints one JSON object: {checks, updates, journal, agent} or {failed, ...}.
import { conversation } from "./client-checks.mjs";
import { Host } from "./client-host.mjs";
import { drive } from "./drive.mjs";

// What comes before initialize ends a connection to a server.
await drive(new Host(), new URL("updates.json", import.meta.url), conversation, ["before initialize"]);
