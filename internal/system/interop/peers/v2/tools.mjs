// What the checks of version 2 share.
import assert from "node:assert/strict";

export function check({ agent, host, cwd }) {
  const idles = () => host.updates.filter((u) => u.sessionUpdate === "state_update" && u.state === "idle");
  const c = {
    agent, host, cwd, session: null, idles,
    get id() {
      return c.session.sessionId;
    },
    code: (wanted, call) => call.then(
      () => assert.fail(`no error, wanted ${wanted}`),
      (error) => (assert.equal(error.code, wanted, error.message), error)),
    kinds: () => host.updates.map((u) => u.sessionUpdate),
    brief: () => host.updates.map((u) => (u.sessionUpdate === "state_update" ? u.state : u.sessionUpdate)),
    texts: () => host.updates.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.content.text),
    journal: () => agent.request("_interop/journal", {}),
    async told(label) {
      const entries = (await c.journal()).filter((e) => e.what === `answer:${label}`);
      assert.ok(entries.length > 0, `the agent has no answer to ${label}`);
      return entries.at(-1).value;
    },
    async prompts() {
      return (await c.journal()).filter((e) => e.what === "session/prompt").length;
    },
    async until(test) {
      while (!(await test())) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    // Runs a turn to its end. The handlers of the updates run later than those of responses.
    async turn(prompt, n = idles().length + 1) {
      const { messageId } = await c.session.prompt(prompt);
      await host.until(() => idles().length >= n);
      return { messageId, end: idles()[n - 1] };
    },
    // Begins the turn that ends by a cancel or by finish.
    async working() {
      const { messageId } = await c.session.prompt("wait");
      await host.until(() => c.texts().includes("waiting"));
      return messageId;
    },
    finish: () => agent.notify("_interop/finish", { sessionId: c.id }),
    cancel: () => agent.notify("session/cancel", { sessionId: c.id }),
    ended: (n) => host.until(() => idles().length >= n),
    // Forgets the updates that nobody has read from the session.
    async drain() {
      for (;;) {
        const late = AbortSignal.timeout(20);
        try {
          await c.session.nextUpdate(late);
        } catch {
          return;
        }
      }
    },
  };
  return c;
}
