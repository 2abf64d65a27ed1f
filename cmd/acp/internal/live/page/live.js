// The page of acp serve: the sessions of the hub, and one of them. The server holds the state: it sends what to
// draw, and gets what the person does.

import { $, el, button, visible } from './dom.js'
import { Items, drawEnd, drawPlans, drawQuestion } from './conversation.js'
import { drawForm } from './form.js'
import { drawSettings } from './settings.js'

const token = decodeURIComponent(location.hash.slice(1))
const items = new Items($('items'), true)
const sessions = new Map() // by id, the newest first; those that are open have running and questions
let socket, pause = 500
let open = null // the session that is shown: {session, folder, rest}
let next = '' // the cursor of the next sessions

function report(text) {
  $('error').firstChild.textContent = visible(text)
  $('error').hidden = !text
}

// send tells the server what the person does.
function send(method, params = {}) {
  if (socket?.readyState !== WebSocket.OPEN) return report('The connection has ended. The page connects again by itself.')
  report('')
  socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }))
}

// --- what the server sends ---

const receive = {
  failed: report,
  sessions(list) {
    for (const s of sessions.values()) Object.assign(s, { running: false, questions: 0 })
    for (const s of list.reverse()) { // the one that changed last comes first
      const known = sessions.get(s.sessionId)
      if (!known) reorder(s)
      else Object.assign(known, s, { title: s.title || known.title })
    }
    showSessions()
  },
  list({ sessions: list, next: cursor }) {
    next = cursor ?? ''
    $('more').hidden = !next
    for (const s of list) sessions.set(s.sessionId, { ...s, ...sessions.get(s.sessionId) })
    showSessions()
  },
  opened(now) {
    const again = open?.session === now.session
    open = { ...now, rest: {} }
    document.querySelector('main').hidden = false
    if (again) return showSessions() // after a lost connection; the person may be looking at the list
    receive.forms([])
    document.body.classList.add('one')
    showSessions()
    $('text').focus()
  },
  left() { // another session could not be opened
    open = null
    document.querySelector('main').hidden = true
    document.body.classList.remove('one')
    showSessions()
  },
  state(state) {
    const log = $('log'), atEnd = state.whole || log.scrollHeight - log.scrollTop - log.clientHeight < 60
    const height = log.scrollHeight, top = log.scrollTop, { first } = items
    items.show(state)
    $('earlier').hidden = items.first <= 0
    if (state.rest) showRest(state.rest)
    if (!state.whole && items.first < first) log.scrollTop = top + log.scrollHeight - height // what the person reads stays in its place
    else if (atEnd) log.scrollTop = log.scrollHeight
  },
  forms(list) {
    showCards('form', list, (form, done) => drawForm(form, answer => { done(); send('fill', { key: form.key, form: answer }) }))
    showState()
  },
}

// reorder puts a session before the others.
function reorder(s) {
  const rest = [...sessions]
  sessions.clear()
  sessions.set(s.sessionId, s)
  for (const [id, other] of rest) sessions.set(id, other)
}

function showRest(rest) {
  open.rest = rest
  $('end').replaceChildren(...drawEnd(rest))
  $('plans').replaceChildren(...drawPlans(rest))
  drawSettings($('settings'), rest, send)
  const asked = (rest.permissions ?? []).filter(p => p.lines) // the others are decided without a person
  showCards('permission', asked, (p, done) => drawQuestion(p, option => { done(); send('answer', { key: p.key, option }) }))
  showState()
}

// showCards shows what waits for the person, and leaves what is shown already. What was answered leaves at once: a
// second press answers nothing else. The focus goes to a card and not to a button of it, which a key that was meant for
// something else would press, and not at all while the person is writing.
function showCards(kind, list, draw) {
  const box = $('questions'), name = x => `${kind} ${x.key}`, keys = new Set(list.map(name))
  for (const e of [...box.children]) {
    if (e.dataset.key.startsWith(kind) && !keys.has(e.dataset.key)) leave(e)
  }
  const shown = new Set([...box.children].map(e => e.dataset.key))
  for (const x of list) {
    if (shown.has(name(x))) continue
    const card = draw(x, () => leave(card))
    card.dataset.key = name(x)
    card.setAttribute('role', 'group')
    card.setAttribute('aria-label', 'The agent asks')
    card.tabIndex = -1
    box.append(card)
    if (!box.contains(document.activeElement) && !$('text').value.trim()) card.focus()
  }
}

function leave(card) {
  const focused = card.contains(document.activeElement)
  card.remove()
  if (focused) ($('questions').firstChild ?? $('text')).focus()
}

function showSessions() {
  const rows = [...sessions.values()].map(s => {
    const b = button(el('span', 'text', s.title || s.sessionId), () => choose(s))
    b.append(el('span', 'dim text', s.cwd), el('span', s.questions ? 'notable' : 'dim', stateOf(s) || when(s.updatedAt ?? s.updated)))
    b.title = visible(s.cwd)
    b.dataset.id = s.sessionId
    if (s.sessionId === open?.session) b.setAttribute('aria-current', 'true')
    return el('li', '', b)
  })
  const focused = document.activeElement?.dataset?.id
  $('list').replaceChildren(...rows)
  if (focused) [...$('list').querySelectorAll('button')].find(b => b.dataset.id === focused)?.focus()
  showState()
}

const stateOf = s => s.questions ? 'asks you' : s.running ? 'working' : ''
const when = time => time ? new Date(time).toLocaleString() : ''

function showState() {
  const s = sessions.get(open?.session), { turn = {}, title } = open?.rest ?? {}
  const asks = $('questions').children.length, working = asks || s?.running || turn.state === 'running' || turn.state === 'requires_action'
  $('cancel').disabled = !working
  $('title').textContent = visible(open ? title || s?.title || open.session : 'Sessions')
  document.title = `${open ? $('title').textContent : 'acp serve'}`
  if (socket?.readyState !== WebSocket.OPEN) return
  const ended = turn.stopReason && turn.stopReason !== 'end_turn' ? turn.stopReason.replaceAll('_', ' ') : 'connected'
  const says = asks ? 'asks you' : working ? 'working' : visible(ended)
  if ($('state').textContent !== says) $('state').textContent = says // or a screen reader says it again
}

// --- the connection ---

function connect() {
  const address = new URL('page', location.href)
  address.protocol = address.protocol.replace('http', 'ws')
  address.hash = ''
  const secret = btoa(token).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  socket = new WebSocket(address, ['acp.page', `acp.token.${secret}`])
  let greeted = false
  socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } }))
  socket.onmessage = event => {
    const { id, result, method, params } = JSON.parse(event.data)
    if (id !== 1) return receive[method]?.(params)
    greeted = true
    pause = 500
    $('folder').value ||= result.folder
    $('state').textContent = 'connected'
    send('list')
    if (open) send('open', { session: open.session, folder: open.folder })
  }
  socket.onclose = () => {
    $('state').textContent = 'disconnected'
    $('cancel').disabled = true
    showCards('permission', [])
    showCards('form', [])
    if (!greeted) report('The connection was refused. Is acp serve running, and is the token in the address right?')
    setTimeout(connect, pause)
    pause = Math.min(pause * 2, 30_000)
  }
}

// --- what the person does ---

function choose(s) {
  if (s.sessionId === open?.session) return document.body.classList.add('one')
  send('open', { session: s.sessionId, folder: s.cwd })
}

$('new').onsubmit = event => {
  event.preventDefault()
  send('new', { folder: $('folder').value })
}

$('prompt').onsubmit = event => {
  event.preventDefault()
  const text = $('text').value.trim()
  if (!text || socket?.readyState !== WebSocket.OPEN) return
  send('prompt', { text })
  $('text').value = ''
  $('log').scrollTop = $('log').scrollHeight
}

$('text').onkeydown = event => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  $('prompt').requestSubmit()
}

const cancel = () => $('cancel').disabled || send('cancel')
$('cancel').onclick = cancel
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') cancel()
})
$('dismiss').onclick = () => report('')
$('more').onclick = () => send('list', { cursor: next })
$('earlier').onclick = () => send('earlier', { before: items.first })
$('back').onclick = () => {
  document.body.classList.remove('one')
  send('list')
}
addEventListener('hashchange', () => location.reload()) // another token

if (token) connect()
else report('The token is missing: open the address that acp serve has printed, with all that follows #.')
