// The page of acp view.

import { $, el, button, svg, visible, duration, clock, count, bytes, latest as latestOf } from './dom.js'
import { List } from './list.js'
import { Items, drawEnd, drawPlans, drawQuestion } from './conversation.js'

const view = {
  session: -1, what: '', dir: '', only: '', search: '', // the filter
  open: new Set(), // the texts whose chunks are listed
  place: -1, row: null, // what is chosen: its place in the list, and the row
  follow: false, info: null,
}

async function get(path, params = {}) {
  const response = await fetch(`api/${path}?${new URLSearchParams(params)}`)
  if (!response.ok) throw new Error(await response.text())
  return response
}

const getJSON = async (path, params) => (await get(path, params)).json()
const filter = () => ({ session: view.session, what: view.what, dir: view.dir, only: view.only, search: view.search })

function report(e) {
  $('status').textContent = visible(e.message)
  $('status').className = 'failed'
}

const latest = f => latestOf(f, report)

// --- the list ---

const list = new List($('list'), {
  draw: drawRow, report,
  read: async params => {
    const answer = await getJSON('messages', { ...filter(), folded: 1, open: [...view.open].join(), ...params })
    const rows = answer.total === answer.messages ? '' : ` in ${count(answer.total, 'row')}`
    $('matches').textContent = count(answer.messages, 'message') + rows
    return answer
  },
})

const notes = ['invalid', 'stderr', 'signal', 'exit', 'end', 'gap', 'cut']

// kind returns the words for a kind of update, or the method as it is.
const kind = what => what.includes('/') ? what : what.replace(/_chunk$/, '').replaceAll('_', ' ')

function drawRow(r, place) {
  if (!r) return el('div', 'row')
  const row = el('div', `row ${r.kind} ${r.failed ? 'bad' : ''}`)
  row.setAttribute('role', 'option')
  row.dataset.seq = r.seq
  row.setAttribute('aria-selected', view.row?.seq === r.seq)
  if (view.row && view.row.pair === r.seq) row.classList.add('paired')
  const worst = r.failed && r.kind !== 'response' || r.faults?.some(f => f.tier === 'must') ? 'must' : r.faults ? 'notable' : ''
  const mark = el('span', `mark ${worst}`, worst === 'must' ? '✕' : worst ? '!' : '')
  if (r.faults) mark.title = visible(r.faults.map(f => f.text).join('\n'))
  const answer = r.kind === 'response' ? r.failed ? 'error ' : 'result ' : ''
  const what = el('span', `what text ${r.failed ? 'failed' : ''}`, answer + kind(r.what))
  const says = el('span', 'says text', r.text)
  if (r.chunks) says.prepend(button(`${r.open ? '▾' : '▸'} ${r.chunks}`, e => { e.stopPropagation(); unfoldRow(r).catch(report) }, 'chunks'))
  const wait = r.latency !== undefined ? duration(r.latency) : r.kind === 'request' && !r.pair ? 'open' : ''
  row.append(mark, el('span', 'seq mono', String(r.seq)), el('span', 'at mono', (r.at / 1e6).toFixed(3)),
    el('span', 'dir mono', { client: '→', agent: '←' }[r.dir] ?? '·'), what, says,
    el('span', `wait mono ${r.latency >= 1e6 || wait === 'open' ? 'notable' : 'dim'}`, wait))
  row.onclick = () => choose(r, place)
  return row
}

async function unfoldRow(row) {
  if (!row?.chunks) return
  if (!view.open.delete(row.seq)) view.open.add(row.seq)
  view.row = row
  await reload()
}

// reload reads the list again after the filter has changed, and stays near the chosen message.
async function reload() {
  list.clear()
  const { row, place } = await list.read({ seq: view.row?.seq ?? '' })
  if (row) choose(row, place)
  else view.place = -1
  drawSessions()
  drawPlot()
}

// find reads a chunk as list.read does and chooses the message, unless its number is below atLeast.
const find = latest(async (params, atLeast = 0) => {
  const { row, place } = await list.read(params)
  if (row?.seq >= atLeast) choose(row, place)
})

// newest reads the end of the list, and chooses the last message if the page follows.
async function newest() {
  const { row, place } = await list.read({ from: 1e9 })
  if (view.follow && row) choose(row, place, true)
}

function last() {
  view.follow = true
  return newest()
}

async function move(by) {
  const place = Math.max(0, Math.min(list.total - 1, view.place + by)), row = list.at(place)
  if (row) choose(row, place)
  else await find({ from: place })
}

async function nextFault(by) {
  const faults = { session: view.session, only: 'faults', n: 1 }, here = view.row?.seq ?? 0
  let { place, rows } = await getJSON('messages', { ...faults, seq: here + (by > 0 ? 1 : 0) })
  if (by < 0 && place > 0 && rows[0].seq >= here) rows = (await getJSON('messages', { ...faults, from: place - 1 })).rows
  if (rows[0] && (rows[0].seq - here) * by > 0) await find({ seq: rows[0].seq })
}

// --- what is chosen ---

function choose(row, place, follow = false) {
  Object.assign(view, { row, place, follow })
  history.replaceState(null, '', `#${row.seq}`)
  $('slider').value = row.at
  list.reveal(place)
  list.draw()
  showMessage(row.seq)
  showState(row)
}

const showMessage = latest(async seq => {
  const m = await getJSON('message', { seq }), r = m.row
  const head = el('h2', '', `${r.seq}`, el('span', 'text', `${r.kind} ${r.method}`), el('span', 'dim', clock(m.time)),
    el('span', 'dim', r.dir && `from the ${r.dir}`), el('span', 'dim', bytes(r.size)))
  if (r.id) head.append(el('span', 'dim mono text', `id ${r.id}`))
  if (r.masked) head.append(el('span', 'notable', 'masked'))
  if (r.pair) head.append(button(`${r.kind === 'request' ? 'response' : 'request'} ${r.pair}${r.latency === undefined ? '' : `, ${duration(r.latency)}`}`, () => find({ seq: r.pair })))
  head.append(button('Copy', copyMessage), button('Copy link', () => put(location.href, 'The link was copied.').catch(report)))
  const faults = (r.faults ?? []).map(f => el('div', `fault ${f.tier}`, `${f.tier} · ${f.rule} `, el('span', 'text', f.text), el('span', 'dim', f.fact)))
  const pre = el('pre')
  for (const { text, fold, size } of m.parts) {
    pre.append(visible(text))
    if (fold) pre.append(button(`… ${bytes(size)}`, e => unfold(e.target, seq, fold, 0).catch(report), 'fold'))
  }
  $('message').replaceChildren(head, ...faults, pre)
  $('message').scrollTop = 0
})

// unfold puts the next piece of a long text in the place of its button, and a button for the rest.
async function unfold(old, seq, fold, from) {
  const { text, next, left } = await getJSON('text', { seq, fold, from })
  old.replaceWith(from ? '' : '…\n', visible(text), next ? button(`… ${bytes(left)} more`, e => unfold(e.target, seq, fold, next).catch(report), 'fold') : '\n')
}

async function put(text, done) {
  await navigator.clipboard.writeText(text)
  $('status').textContent = done
}

const copy = async (path, params, done) => put(await (await get(path, params)).text(), done)
const copyMessage = () => copy('text', { seq: view.row.seq }, 'The message was copied.').catch(report)
const copyAll = () => copy('lines', filter(), 'The messages were copied.').catch(report)

const showState = latest(async row => {
  const { sessions = [] } = view.info ?? {}
  let { session } = row
  if (!sessions[session]?.id) session = sessions.findIndex((s, i) => s.id && (view.session < 0 || view.session === i))
  if (session < 0) {
    $('thread').replaceChildren(el('p', 'dim', 'No session has begun.'))
    return
  }
  const state = await getJSON('state', { session, seq: row.seq })
  const { rest } = state, items = new Items(el('div'))
  items.show(state)
  $('thread').replaceChildren(drawHead(rest, sessions[session].id), items.first ? el('p', 'dim', `${items.first} earlier items are left out`) : '',
    items.box, ...drawPlans(rest), ...drawEnd(rest), ...(rest.permissions ?? []).map(p => el('div', 'item asks', el('span', 'who', 'asks'), drawQuestion(p))))
  $('thread').scrollTop = $('thread').scrollHeight
})

// drawHead returns the title of a session, or its id, and what is known of it as a whole.
function drawHead(rest, id) {
  const { turn = {} } = rest, head = el('h2', '', el('span', 'text', rest.title || id))
  if (turn.state) head.append(el('span', turn.error ? 'failed' : 'dim', [turn.state, turn.stopReason].filter(Boolean).join(', ')))
  if (rest.modes?.current) head.append(el('span', 'dim text', `mode ${rest.modes.current}`))
  if (rest.usage) head.append(el('span', 'dim', `${rest.usage.used} of ${rest.usage.size} tokens`))
  return head
}

// --- sessions, what went wrong, and plot ---

function drawSessions() {
  const { info } = view
  if (!info) return
  const all = [[-1, 'All messages', info.messages, info.faults]]
  info.sessions.forEach((s, i) => all.push([i, s.id ? s.title || s.id : `Connection ${s.conn}${s.title && `: ${s.title}`}`, s.messages, s.faults]))
  $('sessions').replaceChildren(...all.map(([number, name, messages, faults]) => {
    const one = button(el('span', 'text', name), () => setFilter({ session: number }))
    one.title = visible(name)
    one.append(el('span', 'dim', `${count(messages, 'message')} `), el('span', 'must', faults && count(faults, 'fault')))
    if (number === view.session) one.setAttribute('aria-current', 'true')
    return one
  }))
  options('session', all.map(([number, name, messages, faults]) => [number, `${name} (${count(messages, 'message')}${faults ? `, ${count(faults, 'fault')}` : ''})`]))
  const kinds = Object.entries(info.kinds).sort(([a], [b]) => notes.includes(a) - notes.includes(b) || (a < b ? -1 : 1))
  options('kind', [['', 'all kinds'], ...kinds.map(([name, n]) => [name, `${kind(name) || 'responses to nothing'} (${n})`])])
  $('session').value = view.session
  $('kind').value = view.what
  const wrong = [
    info.crash && button(info.crashed, () => find({ seq: info.crash }), 'must'),
    info.faults && button(count(info.faults, 'fault'), () => setFilter({ only: 'faults' }), 'must'),
    info.errors && button(count(info.errors, 'error'), () => setFilter({ only: 'errors' }), 'notable'),
    info.kinds.stderr && button(`${count(info.kinds.stderr, 'line')} of stderr`, () => setFilter({ what: 'stderr' })),
  ]
  $('wrong').replaceChildren(...wrong.filter(Boolean))
}

function options(id, list) {
  const select = $(id)
  if (select === document.activeElement) return // it may be open
  select.replaceChildren(...list.map(([value, text]) => Object.assign(el('option', '', text), { value })))
}

const reloadLatest = latest(reload)

function setFilter(change) {
  Object.assign(view, change)
  for (const name of ['dir', 'only', 'session']) $(name).value = view[name]
  $('kind').value = view.what
  if (change.search === '') $('search').value = ''
  return reloadLatest()
}

const drawPlot = latest(async () => {
  const p = await getJSON('plot', { session: view.session })
  const height = 44, most = Math.max(1, ...p.client.map((c, i) => c + p.agent[i])), slowest = Math.max(1, ...p.latency)
  const bars = []
  const bar = (colour, x, y, tall) => bars.push(svg('rect', { fill: `var(--${colour})`, x, y, width: 0.8, height: tall }))
  p.client.forEach((client, i) => {
    const fromAgent = p.agent[i] / most * (height - 4), fromClient = client / most * (height - 4)
    if (p.crashed[i]) bar('must', i, 0, height)
    bar('agent', i, height - fromAgent, fromAgent)
    bar('client', i, height - fromAgent - fromClient, fromClient)
    if (p.latency[i]) bar('ink', i, height - 2 - Math.sqrt(p.latency[i] / slowest) * (height - 4), 2)
    if (p.stderr[i]) bar('notable', i, 5, 4)
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
  $('name').textContent = visible(info.head.command?.join(' ') || info.path)
  $('name').title = visible(info.path)
  $('slider').max = Math.max(info.length, 1)
  $('status').className = info.damaged ? 'failed' : ''
  $('status').textContent = visible(`${count(info.messages, 'message')}, ${count(info.faults, 'fault')}${info.ended ? '' : ', still recording'}${info.damaged ? `: ${info.damaged}` : ''}`)
  if (before && before.messages === info.messages && before.ended === info.ended) return
  drawSessions()
  drawPlot()
  list.age()
  if (!view.row && wanted) await find({ seq: wanted }, info.ended ? 0 : wanted)
  else await newest()
}

async function poll() {
  await refresh().catch(report)
  if (!view.info?.ended) setTimeout(poll, 500)
}

const only = name => () => setFilter({ only: view.only === name ? '' : name })
const directions = ['', 'client', 'agent']

function showPane(name) {
  document.body.classList.toggle('conversation', name === 'thread')
  $('showthread').setAttribute('aria-selected', name === 'thread')
  $('showmessage').setAttribute('aria-selected', name !== 'thread')
}

const keys = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  PageDown: () => move(20), PageUp: () => move(-20), g: () => move(-1e9), Home: () => move(-1e9),
  G: last, End: last, n: () => nextFault(1), N: () => nextFault(-1),
  w: () => view.info?.crash && find({ seq: view.info.crash }),
  p: () => view.row?.pair && find({ seq: view.row.pair }),
  x: () => unfoldRow(view.row), u: () => $('message').querySelector('.fold')?.click(),
  '[': () => setFilter({ session: Math.max(-1, view.session - 1) }),
  ']': () => setFilter({ session: Math.min(view.info.sessions.length - 1, view.session + 1) }),
  f: only('faults'), e: only('errors'), s: only('slow'),
  d: () => setFilter({ dir: directions[(directions.indexOf(view.dir) + 1) % 3] }),
  t: () => $('kind').focus(), v: () => showPane(document.body.classList.contains('conversation') ? 'message' : 'thread'),
  c: copyMessage, C: copyAll, '/': () => $('search').focus(), '?': () => $('keys').showModal(),
}

document.addEventListener('keydown', e => {
  if (e.target === $('search')) {
    if (e.key === 'Escape') setFilter({ search: '' })
    if (e.key === 'Escape' || e.key === 'Enter') $('list').focus()
    return
  }
  if (e.target.tagName === 'SELECT' && (e.key === 'Escape' || e.key === 'Enter')) $('list').focus()
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
$('session').onchange = () => setFilter({ session: Number($('session').value) })
$('kind').onchange = () => setFilter({ what: $('kind').value })
$('dir').onchange = () => setFilter({ dir: $('dir').value })
$('only').onchange = () => setFilter({ only: $('only').value })
$('slider').oninput = () => find({ time: Math.floor($('slider').value) })
$('help').onclick = () => $('keys').showModal()
$('keys').onclick = () => $('keys').close()
$('copyall').onclick = copyAll
$('fixture').onclick = () => copy('fixture', {}, 'The Go test was copied.').catch(report)
$('showthread').onclick = () => showPane('thread')
$('showmessage').onclick = () => showPane('message')
addEventListener('hashchange', e => { view.follow = false; find({ seq: Number(new URL(e.newURL).hash.slice(1)) }) })

const wanted = Number(location.hash.slice(1)) // the message of the link, which may not be read yet
view.follow = !wanted
showPane('message')
await poll()
