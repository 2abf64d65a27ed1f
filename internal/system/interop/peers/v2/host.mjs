// The client of version 2: it answers what the agent asks, and records all that it was told.
import * as acp from "@agentclientprotocol/sdk/experimental/v2/unstable";

const raw = (params) => params;

export class Host {
  updates = [];
  journal = [];
  waiting = new Set();
  permission = "allow_once"; // the kind of option to choose; "hold" waits for a cancel, "_unsure" is an outcome nobody knows

  note(what, value) {
    this.journal.push({ what, value: value ?? null });
    this.wake();
  }

  wake() {
    for (const look of [...this.waiting]) look();
  }

  until(test) {
    return new Promise((resolve) => {
      const look = () => {
        if (!test()) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  saw(what) {
    return this.journal.some((e) => e.what === what);
  }

  reset(permission = "allow_once") {
    this.updates.length = 0;
    this.journal.length = 0;
    this.permission = permission;
  }

  app() {
    const note = (method, params) => this.note(method, params);
    return acp.client({ name: "interop-ts-client" })
      .onNotification("session/update", ({ params }) => {
        this.updates.push(params.update);
        this.wake();
      })
      .onNotification("elicitation/complete", ({ params }) => note("elicitation/complete", params))
      .onNotification("auth/status_update", ({ params }) => note("auth/status_update", params))
      .onNotification("_interop/waiting", raw, ({ params }) => note("_interop/waiting", params))
      .onNotification("_interop/client_note", raw, ({ params }) => note("_interop/client_note", params))
      .onRequest("session/request_permission", (ctx) => this.decide(ctx))
      .onRequest("elicitation/create", ({ params }) => (note("elicitation/create", params), this.elicit(params)))
      .onRequest("_interop/client_echo", raw, async ({ params }) => {
        if (params.after) await this.until(() => this.saw(params.after));
        return { echo: params };
      });
  }

  async decide({ params, signal }) {
    this.note("session/request_permission", params);
    if (this.permission === "hold") {
      await new Promise((resolve) => {
        this.release = resolve; // the program cancels the turn, and answers what is open
        signal.addEventListener("abort", resolve);
      });
      this.note("session/request_permission cancelled");
      signal.throwIfAborted();
      return { outcome: { outcome: "cancelled" } };
    }
    if (this.permission === "_unsure") return { outcome: { outcome: "_unsure", until: "tomorrow" } };
    return { outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === this.permission).optionId } };
  }

  elicit({ mode, message, requestedSchema }) {
    if (mode === "url") return { action: "accept" };
    if (message === "Decline me") return { action: "decline" };
    if (message === "Postpone me") return { action: "_later", days: 2 };
    const answers = { token: "s3cret", name: "Ann", level: 3, share: 0.5, web: true, tags: ["a", "b"] };
    const names = Object.keys(requestedSchema.properties).filter((name) => name in answers);
    return { action: "accept", content: Object.fromEntries(names.map((name) => [name, answers[name]])) };
  }
}
