// A turn that makes the requests which its prompt lists, one after the other. README.md says what a step is.
export async function runScript(steps, { client, sessionId, note }) {
  const answers = {}; // by label, for $label.member in later params
  const resolve = (v) => {
    if (typeof v === "string" && v.startsWith("$")) return v.slice(1).split(".").reduce((at, name) => at?.[name], answers);
    if (Array.isArray(v)) return v.map(resolve);
    if (v === null || typeof v !== "object") return v;
    if (typeof v.$fill === "number") return "x".repeat(v.$fill);
    return Object.fromEntries(Object.entries(v).map(([name, member]) => [name, resolve(member)]));
  };
  const failure = (e) => ({ error: { code: e.code, message: e.message, data: e.data ?? null } });
  for (const { label, method, params, notify } of steps) {
    if (notify) {
      await client.notify(notify, { sessionId, ...resolve(params) });
    } else {
      answers[label] = await client.request(method, { sessionId, ...resolve(params) }).catch(failure);
      note(`answer:${label}`, answers[label]);
    }
  }
}
