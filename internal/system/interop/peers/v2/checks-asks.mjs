// The checks of version 2 in which the agent asks.
import assert from "node:assert/strict";

const { deepEqual, equal } = assert;

export function* asking(c) {
  const { host, cwd } = c;
  const question = () => host.journal.find((e) => e.what === "session/request_permission").value;

  for (const kind of ["allow_once", "allow_always", "reject_once", "reject_always", "_ask_later"]) {
    yield [`permission ${kind}`, async () => {
      host.permission = kind;
      await c.turn("permission");
      equal(c.texts().at(-1), `selected id-${kind}`);
      deepEqual(c.brief(), ["user_message", "running", "requires_action", "running", "agent_message_chunk", "idle"]);
      const { title, description, subject } = question();
      deepEqual([title, description, subject.type], ["Edit a.txt?", "It changes one line.", "tool_call"]);
      deepEqual(subject.toolCall.locations, [{ path: `${cwd}/a.txt`, line: 1 }]);
      equal(subject.toolCall.content[0].changes[0].operation, "modify");
    }];
  }

  yield ["permission for other subjects", async () => {
    const subject = async (kind) => {
      host.reset();
      await c.turn(`permission ${kind}`);
      return question().subject;
    };
    deepEqual(await subject("command"), { type: "command", command: "make all", cwd, toolCallId: "call-1" });
    equal(await subject("none"), undefined);
    deepEqual(await subject("other"), { type: "_network", host: "example.com" });
    host.reset("_unsure");
    await c.turn("permission");
    deepEqual(await c.told("permission"), { outcome: { outcome: "_unsure", until: "tomorrow" } });
    equal(c.texts().at(-1), "_unsure");
  }];

  yield ["permission cancelled", async () => {
    host.permission = "hold";
    await c.session.prompt("wait-permission");
    await host.until(() => host.saw("session/request_permission"));
    await c.cancel();
    host.release();
    await c.ended(1);
    equal(c.idles()[0].stopReason, "cancelled");
    deepEqual(await c.told("permission"), { outcome: { outcome: "cancelled" } });
    equal(c.texts().at(-1), "cancelled");
  }];

  yield ["permission taken back", async () => {
    host.permission = "hold";
    const { end } = await c.turn("takeback");
    equal(end.stopReason, "end_turn");
    equal(c.texts().at(-1), "error -32800");
    await host.until(() => host.saw("session/request_permission cancelled"));
  }];

  yield ["elicitation form", async () => {
    await c.turn("form");
    deepEqual(await c.told("form"), { action: "accept", content: { name: "Ann", level: 3, share: 0.5, web: true, tags: ["a", "b"] } });
    deepEqual(await c.told("form declined"), { action: "decline" });
    deepEqual(await c.told("form postponed"), { action: "_later", days: 2 });
    const { requestedSchema, toolCallId, sessionId } = host.journal[0].value;
    deepEqual([toolCallId, sessionId, requestedSchema.required], ["call-1", c.id, ["name"]]);
    deepEqual(requestedSchema.properties.tags, { type: "array", minItems: 1, items: { type: "string", enum: ["a", "b", "c"] } });
    deepEqual(requestedSchema.properties.size.oneOf[1], { const: "l", title: "Large" });
  }];

  yield ["elicitation url", async () => {
    await c.turn("url");
    deepEqual(await c.told("url"), { action: "accept" });
    await host.until(() => host.saw("elicitation/complete"));
    deepEqual(host.journal.find((e) => e.what === "elicitation/complete").value, { elicitationId: "el-1" });
  }];
}
