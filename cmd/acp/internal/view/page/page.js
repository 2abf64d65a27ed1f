// The page of acp view. All that a peer has sent becomes text by textContent, never markup.

const $ = id => document.getElementById(id)
const rowHeight = 22 // as in page.css
const tallest = 10_000_000 // pixels; browsers draw nothing beyond some limit
const chunkSize = 100

const view = {
  session: -1, method: '', faults: false, search: '', // the filter
  total: 0, chunks: new Map(), generation: 0, // the list: chunks of rows by their number
  place: -1, row: null, // what is chosen: its place in the list, and the row
  follow: false, info: null,
}

// el makes an element. Children are elements and texts; those that are empty, false or 0 are left out.
function el(tag, className, ...children) {
  const e = document.createElement(tag)
  e.className = className
  e.append(...children.filter(Boolean))
  return e
}

function button(text, onclick, className = '') {
  return Object.assign(el('button', className, text), { onclick })
}

async function get(path, params = {}) {
  const response = await fetch(`api/${path}?${new URLSearchParams(params)}`)
  if (!response.ok) throw new Error(await response.text())
  return response
}

const getJSON = async (path, params) => (await get(path, params)).json()
const filter = () => ({ session: view.session, method: view.method, faults: view.faults ? 1 : '', search: view.search })

// latest returns a function that calls f. A call that comes while f runs waits for its end; of several
// that wait, only the last one is made.
function latest(f) {
  let next, running = false
  return async (...args) => {
    next = args
    if (running) return
    for (running = true; next;) {
      const now = next
      next = null
      await f(...now).catch(report)
    }
    running = false
  }
}

function report(e) {
  $('status').textContent = e.message
  $('status').className = 'failed'
}

function duration(micros) {
  if (micros < 1000) return `${micros} µs`
  if (micros < 1e6) return `${(micros / 1e3).toPrecision(3)} ms`
  return `${(micros / 1e6).toFixed(2)} s`
}

const clock = time => { const t = new Date(time); return `${t.toLocaleTimeString('en-GB')}.${String(t.getMilliseconds()).padStart(3, '0')}` }

const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`
const bytes = n => n < 10_000 ? `${n} bytes` : n < 10_000_000 ? `${Math.round(n / 1024)} KiB` : `${Math.round(n / 1048576)} MiB`

// --- the list ---

function scaled() {
  const full = view.total * rowHeight, height = Math.min(full, tallest), seen = $('list').clientHeight
  return { height, factor: full > height ? (full - seen) / (height - seen) : 1 }
}

function draw() {
  const { height, factor } = scaled(), list = $('list'), top = list.scrollTop * factor / rowHeight
  $('space').style.height = `${height}px`
  const first = Math.max(0, Math.floor(top) - 5)
  const last = Math.min(view.total, first + Math.ceil(list.clientHeight / rowHeight) + 10)
  const rows = []
  for (let i = first; i < last; i++) {
    const chunk = view.chunks.get(Math.floor(i / chunkSize))
    const row = chunk?.[i % chunkSize] // a chunk that was read while the list was shorter may not have it
    rows.push(row ? drawRow(row, i) : el('div', 'row'))
    if (!row || chunk.stale) load(Math.floor(i / chunkSize))
  }
  $('rows').replaceChildren(...rows)
  $('rows').style.transform = `translateY(${list.scrollTop - (top - first) * rowHeight}px)`
}

function drawRow(r, place) {
  const row = el('div', `row ${r.kind}`)
  row.setAttribute('role', 'option')
  row.setAttribute('aria-selected', view.row?.seq === r.seq)
  if (view.row && view.row.pair === r.seq) row.classList.add('paired')
  const worst = r.faults?.some(f => f.tier === 'must') ? 'must' : r.faults ? 'notable' : ''
  const mark = el('span', `mark ${worst}`, worst === 'must' ? '✕' : worst ? '!' : '')
  if (r.faults) mark.title = r.faults.map(f => f.text).join('\n')
  const kinds = { request: '', notification: '', response: r.failed ? 'error ' : 'result ' }
  const what = (kinds[r.kind] ?? r.kind) + r.method
  row.append(mark, el('span', 'seq mono', String(r.seq)), el('span', 'at mono', (r.at / 1e6).toFixed(3)),
    el('span', 'mono', r.dir === 'client' ? '→' : '←'), el('span', `what text ${r.failed ? 'failed' : ''}`, what),
    el('span', 'says text', r.text), el('span', 'dim mono', r.latency === undefined ? '' : duration(r.latency)))
  row.onclick = () => choose(r, place)
  return row
}

const loading = new Set()

function load(number) {
  if (loading.has(number)) return
  loading.add(number)
  read({ from: number * chunkSize }).catch(report).finally(() => loading.delete(number))
}

// read reads a chunk of the list: the one with the place, message or time in params. It returns the row
// found there, and its place in the list.
async function read(params) {
  const generation = view.generation
  const { total, place, from, rows } = await getJSON('messages', { ...filter(), ...params, n: chunkSize })
  if (generation !== view.generation) return {}
  if (view.chunks.size > 100) view.chunks.clear()
  view.chunks.set(from / chunkSize, rows)
  view.total = total
  requestAnimationFrame(draw)
  return { place, row: rows[place - from] }
}

function reveal(place) {
  const list = $('list'), { height, factor } = scaled()
  $('space').style.height = `${height}px`
  const top = place * rowHeight, seen = list.scrollTop * factor
  if (top < seen || top + rowHeight > seen + list.clientHeight) list.scrollTop = (top - list.clientHeight / 2) / factor
}

// reload reads the list again after the filter has changed, and stays near the chosen message.
async function reload() {
  view.generation++
  view.chunks.clear()
  loading.clear()
  const { row, place } = await read({ seq: view.row?.seq ?? '' })
  if (row) choose(row, place)
  else view.place = -1
  drawSessions()
  drawPlot()
}

// find reads a chunk as read does and chooses the message, unless its number is below atLeast.
const find = latest(async (params, atLeast = 0) => {
  const { row, place } = await read(params)
  if (row?.seq >= atLeast) choose(row, place)
})

// newest reads the end of the list, and chooses the last message if the page follows.
async function newest() {
  const { row, place } = await read({ from: 1e9 })
  if (view.follow && row) choose(row, place, true)
}

function last() {
  view.follow = true
  return newest()
}

async function move(by) {
  const place = Math.max(0, Math.min(view.total - 1, view.place + by))
  const row = view.chunks.get(Math.floor(place / chunkSize))?.[place % chunkSize]
  if (row) choose(row, place)
  else await find({ from: place })
}

async function nextFault(by) {
  const faults = { session: view.session, faults: 1, n: 1 }, here = view.row?.seq ?? 0
  let { place, rows } = await getJSON('messages', { ...faults, seq: here + (by > 0 ? 1 : 0) })
  if (by < 0 && place > 0 && rows[0].seq >= here) rows = (await getJSON('messages', { ...faults, from: place - 1 })).rows
  if (rows[0] && (rows[0].seq - here) * by > 0) await find({ seq: rows[0].seq })
}

// --- what is chosen ---

function choose(row, place, follow = false) {
  Object.assign(view, { row, place, follow })
  history.replaceState(null, '', `#${row.seq}`)
  $('slider').value = row.at
  reveal(place)
  draw()
  showMessage(row.seq)
  showState(row)
}

const showMessage = latest(async seq => {
  const m = await getJSON('message', { seq }), r = m.row
  const head = el('h2', '', `${r.seq}`, el('span', 'text', `${r.kind} ${r.method}`), el('span', 'dim', clock(m.time)),
    el('span', 'dim', `from the ${r.dir}`), el('span', 'dim', bytes(r.size)))
  if (r.id) head.append(el('span', 'dim mono text', `id ${r.id}`))
  if (r.masked) head.append(el('span', 'notable', 'masked'))
  if (r.pair) head.append(button(`${r.kind === 'request' ? 'response' : 'request'} ${r.pair}${r.latency === undefined ? '' : `, ${duration(r.latency)}`}`, () => find({ seq: r.pair })))
  head.append(button('Copy', copyMessage), button('Copy link', () => put(location.href, 'The link was copied.').catch(report)))
  const faults = (r.faults ?? []).map(f => el('div', `fault ${f.tier}`, `${f.tier} · ${f.rule} `, el('span', 'text', f.text), el('span', 'dim', f.fact)))
  const pre = el('pre')
  for (const { text, fold, size } of m.parts) {
    pre.append(text)
    if (fold) pre.append(button(`… ${bytes(size)}`, e => unfold(e.target, seq, fold).catch(report), 'fold'))
  }
  $('message').replaceChildren(head, ...faults, pre)
  $('message').scrollTop = 0
})

async function unfold(button, seq, fold) {
  button.replaceWith(`…\n${await (await get('text', { seq, fold })).text()}\n`)
}

async function put(text, done) {
  await navigator.clipboard.writeText(text)
  $('status').textContent = done
}

const copy = async (path, params, done) => put(await (await get(path, params)).text(), done)
const copyMessage = () => copy('text', { seq: view.row.seq }, 'The message was copied.').catch(report)

// --- the conversation ---

const showState = latest(async row => {
  let session = row.session
  if (!view.info?.sessions[session]?.id) session = view.info?.sessions.findIndex((s, i) => s.id && (view.session < 0 || view.session === i)) ?? -1
  if (session < 0) {
    $('thread').replaceChildren(el('p', 'dim', 'No session has begun.'))
    return
  }
  const state = await getJSON('state', { session, seq: row.seq }), rest = state.rest
  const head = el('h2', '', el('span', 'text', rest.title || view.info.sessions[session].id))
  const turn = rest.turn ?? {}
  if (turn.state) head.append(el('span', turn.error ? 'failed' : 'dim', [turn.state, turn.stopReason].filter(Boolean).join(', ')))
  if (rest.modes?.current) head.append(el('span', 'dim text', `mode ${rest.modes.current}`))
  if (rest.usage) head.append(el('span', 'dim', `${rest.usage.used} of ${rest.usage.size} tokens`))
  const earlier = state.total - state.items.length, { queued = [], plans = [], permissions = [] } = rest
  $('thread').replaceChildren(head, earlier > 0 ? el('p', 'dim', `${earlier} earlier items are left out`) : '',
    ...state.items.map(i => drawItem(i.item, i.value, state.terminals)), ...plans.map(drawPlan), ...queued.map(q => item('queued', blocks(q.content), 'dim')),
    ...permissions.map(p => item('asks', el('div', 'card asks', el('div', 'text', p.title || p.command || p.toolCallId || 'permission'),
      el('div', 'dim text', p.options.map(o => `${o.name} (${o.kind})`).join(' · '))))),
    turn.error ? item('error', `${turn.error.message} ${turn.error.data ? JSON.stringify(turn.error.data) : ''}`, 'failed') : '')
  $('thread').scrollTop = $('thread').scrollHeight
})

// item shows a text or an element beside a word that says what it is.
function item(who, body, className = '') {
  return el('div', `item ${who}`, el('span', 'who', who), typeof body === 'string' ? el('div', `text ${className}`, body) : body)
}

function blocks(content) {
  return (content ?? []).map(b => b.type === 'text' ? b.text : `[${b.type} ${b.uri ?? b.name ?? b.mimeType ?? ''}] ${b.text ?? ''}`).join('\n')
}

function drawItem(kind, v, terminals) {
  switch (kind) {
    case 'Message': return item(v.role, blocks(v.content))
    case 'ToolCall': return drawTool(v, terminals)
    case 'Notice': return item('notice', `${v.severity}: ${v.title} ${v.description ?? ''}`)
    case 'Compaction': return item('compaction', `${v.status} ${blocks(v.summary)}`, 'dim')
    case 'Subagent': return item('subagent', `${v.title ?? v.sessionId} ${v.state ?? ''}`)
  }
  return item(kind.toLowerCase(), v.type ?? JSON.stringify(v), 'dim mono')
}

function drawTool(v, terminals) {
  const state = v.ended ? `${v.status}, ended` : v.status
  const tone = v.status === 'failed' ? 'failed' : v.status === 'completed' ? 'done' : 'dim'
  const card = el('div', 'card', el('span', 'text', v.title || v.name || v.id), ' ', el('span', 'dim', v.kind), ' ', el('span', tone, state))
  for (const l of v.locations ?? []) card.append(el('div', 'dim mono text', l.line ? `${l.path}:${l.line}` : l.path))
  for (const c of v.content ?? []) {
    let text = c.block ? blocks([c.block]) : c.type
    if (c.diff) text = c.diff.patch || c.diff.changes.map(x => `${x.operation} ${x.path ?? ''}`).join('\n') + diffText(c.diff)
    if (c.terminalId) {
      const shell = terminals[c.terminalId] ?? { command: c.terminalId, output: '' }
      text = `$ ${shell.command}\n${shell.output}${shell.exit ? `\n[exit ${shell.exit.code ?? shell.exit.signal ?? ''}]` : ''}`
    }
    card.append(el('pre', 'text', text))
  }
  return item('tool', card)
}

const diffText = d => (d.oldText ? `\n${d.oldText.replace(/^/gm, '- ')}` : '') + (d.newText ? `\n${d.newText.replace(/^/gm, '+ ')}` : '')

function drawPlan(plan) {
  const card = el('div', 'card')
  for (const e of plan.entries ?? []) card.append(el('div', `text ${e.status === 'completed' ? 'done' : ''}`, `${{ completed: '✓', in_progress: '▸', cancelled: '–' }[e.status] ?? '·'} ${e.content}`))
  if (plan.markdown || plan.uri) card.append(el('div', 'text', plan.markdown ?? plan.uri))
  return item('plan', card)
}

// --- sessions and plot ---

function drawSessions() {
  const info = view.info
  if (!info) return
  const all = [[-1, 'All messages', info.messages, info.faults]]
  info.sessions.forEach((s, i) => all.push([i, s.id ? s.title || s.id : `Connection ${s.conn}${s.title && `: ${s.title}`}`, s.messages, s.faults]))
  $('sessions').replaceChildren(...all.map(([number, name, messages, faults]) => {
    const one = button(el('span', 'text', name), () => setFilter({ session: number }))
    one.title = name
    one.append(el('span', 'dim', `${count(messages, 'message')} `), el('span', 'must', faults && count(faults, 'fault')))
    if (number === view.session) one.setAttribute('aria-current', 'true')
    return one
  }))
}

const reloadLatest = latest(reload)

function setFilter(change) {
  Object.assign(view, change)
  $('faults').checked = view.faults
  $('method').value = view.method
  if (change.search === '') $('search').value = ''
  return reloadLatest()
}

const drawPlot = latest(async () => {
  const p = await getJSON('plot', { session: view.session })
  const height = 44, most = Math.max(1, ...p.client.map((c, i) => c + p.agent[i])), slowest = Math.max(1, ...p.latency)
  const bars = []
  const bar = (colour, x, y, tall) => {
    const r = document.createElementNS('http://www.w3.org/2000/svg', 'rect'), attributes = { fill: `var(--${colour})`, x, y, width: 0.8, height: tall }
    for (const name in attributes) r.setAttribute(name, attributes[name])
    bars.push(r)
  }
  p.client.forEach((client, i) => {
    const fromAgent = p.agent[i] / most * (height - 4), fromClient = client / most * (height - 4)
    bar('agent', i, height - fromAgent, fromAgent)
    bar('client', i, height - fromAgent - fromClient, fromClient)
    if (p.latency[i]) bar('ink', i, height - 2 - Math.sqrt(p.latency[i] / slowest) * (height - 4), 2)
    if (p.faults[i]) bar('must', i, 0, 4)
  })
  $('plot').setAttribute('viewBox', `0 0 ${p.client.length} ${height}`)
  $('plot').replaceChildren(...bars)
  const seconds = Math.max(view.info?.length ?? 0, 1) / 1e6 / p.client.length
  $('scale').textContent = `at most ${Math.round(most / seconds)} messages a second · slowest response ${duration(slowest)}`
})

// --- following, keys, beginning ---

async function refresh() {
  const before = view.info, info = view.info = await getJSON('info')
  $('name').textContent = info.head.command?.join(' ') || info.path
  $('name').title = info.path
  $('slider').max = Math.max(info.length, 1)
  $('status').className = info.damaged ? 'failed' : ''
  $('status').textContent = `${count(info.messages, 'message')}, ${count(info.faults, 'fault')}${info.ended ? '' : ', still recording'}${info.damaged ? `: ${info.damaged}` : ''}`
  if (before && before.messages === info.messages && before.ended === info.ended) return
  const methods = new Set(['', ...info.methods])
  if ($('method').options.length !== methods.size) {
    $('method').replaceChildren(...Array.from(methods, m => { const o = el('option', '', m || 'all methods'); o.value = m; return o }))
    $('method').value = view.method
  }
  drawSessions()
  drawPlot()
  for (const chunk of view.chunks.values()) chunk.stale = true // draw reads them again: their messages may have responses and faults now
  if (!view.row && wanted) await find({ seq: wanted }, info.ended ? 0 : wanted)
  else await newest()
}

async function poll() {
  await refresh().catch(report)
  if (!view.info?.ended) setTimeout(poll, 500)
}

const keys = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  PageDown: () => move(20), PageUp: () => move(-20), g: () => move(-1e9), Home: () => move(-1e9),
  G: last, End: last, n: () => nextFault(1), N: () => nextFault(-1),
  p: () => view.row?.pair && find({ seq: view.row.pair }),
  '[': () => setFilter({ session: Math.max(-1, view.session - 1) }),
  ']': () => setFilter({ session: Math.min(view.info.sessions.length - 1, view.session + 1) }),
  f: () => setFilter({ faults: !view.faults }), c: copyMessage, '/': () => $('search').focus(), '?': () => $('keys').showModal(),
}

document.addEventListener('keydown', e => {
  if (e.target === $('search')) {
    if (e.key === 'Escape') setFilter({ search: '' })
    if (e.key === 'Escape' || e.key === 'Enter') $('list').focus()
    return
  }
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key] || e.target.tagName === 'SELECT' || $('keys').open || e.target === $('slider')) return
  if (['thread', 'message'].includes(e.target.id) && e.key.length > 1) return // they scroll
  e.preventDefault()
  Promise.resolve(keys[e.key]()).catch(report)
})

let typed
$('search').oninput = () => {
  clearTimeout(typed)
  typed = setTimeout(() => setFilter({ search: $('search').value }), 150)
}
$('method').onchange = () => setFilter({ method: $('method').value })
$('faults').onchange = () => setFilter({ faults: $('faults').checked })
$('slider').oninput = () => find({ time: Math.floor($('slider').value) })
$('help').onclick = () => $('keys').showModal()
$('keys').onclick = () => $('keys').close()
$('fixture').onclick = () => copy('fixture', {}, 'The Go test was copied.').catch(report)
$('list').onscroll = draw
addEventListener('resize', draw)
addEventListener('hashchange', e => { view.follow = false; find({ seq: Number(new URL(e.newURL).hash.slice(1)) }) })

const wanted = Number(location.hash.slice(1)) // the message of the link, which may not be read yet
view.follow = !wanted
await poll()
