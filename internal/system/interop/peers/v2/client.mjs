// A client of version 2 on the TypeScript SDK that drives any agent which behaves as README.md says:
//   node v2/client.mjs FOLDER COMMAND [ARGS...]    an agent that it starts
//   node v2/client.mjs FOLDER URL                  one that listens, with the scheme http or ws
// It checks what it sees and prints one JSON object: {checks, agent, exit} or {failed, ...}.
import { drive } from "../drive.mjs";
import { conversation } from "./checks.mjs";
import { Host } from "./host.mjs";

await drive(new Host(), new URL("updates.json", import.meta.url), conversation, ["initialize again"]);
