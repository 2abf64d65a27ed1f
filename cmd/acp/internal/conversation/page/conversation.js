// A conversation as a user interface shows it: messages, tool calls, plans, questions.

import { el, button, visible } from './dom.js'

// Items draws the items of a conversation in a box, each at its place. What the person has folded stays folded.
export class Items {
  // With folds, tool calls that are done and thoughts are folded at first.
  constructor(box, folds) {
    Object.assign(this, { box, folds, drawn: new Map(), total: 0 })
  }

  // show draws a state: {whole, total, items, terminals}.
  show({ whole, total, items, terminals }) {
    if (whole) {
      this.drawn.clear()
      this.box.replaceChildren()
    }
    this.total = total
    let last = Math.max(-1, ...this.drawn.keys())
    for (const { place, item, value, html } of items) {
      const e = drawItem(item, value, terminals, html, this.folds), old = this.drawn.get(place)
      this.drawn.set(place, e)
      if (!old) {
        const behind = place < last ? [...this.drawn.keys()].filter(p => p > place).sort((a, b) => a - b)[0] : undefined
        this.box.insertBefore(e, this.drawn.get(behind) ?? null)
        last = Math.max(last, place)
        continue
      }
      const before = old.querySelector('details'), after = e.querySelector('details')
      if (before && after && before.dataset.chosen) Object.assign(after, { open: before.open }).dataset.chosen = true
      const focus = old.contains(document.activeElement)
      old.replaceWith(e)
      if (focus) e.querySelector('summary')?.focus()
    }
  }

  // first is the place of the first item that is drawn.
  get first() { return this.total - this.drawn.size }
}

// drawPlans returns the elements of the plans in the rest of a state, and drawEnd those that stand behind the items.
export const drawPlans = ({ plans = [] }) => plans.map(drawPlan)

export function drawEnd({ queued = [], turn = {} }) {
  return [...queued.map(q => item('queued', blocks(q.content), 'dim')),
    turn.error && item('error', `${turn.error.message} ${turn.error.data ? JSON.stringify(turn.error.data) : ''}`, 'failed')].filter(Boolean)
}

// drawQuestion returns the card of a question. choose(option) is called for the chosen one; without it the card
// cannot be answered.
export function drawQuestion(p, choose) {
  const lines = p.lines ?? [p.title || p.command || p.toolCallId || 'permission']
  const card = el('div', 'card asks', ...lines.map(l => el('div', 'text', l)))
  if (!choose) card.append(el('div', 'dim text', p.options.map(o => `${o.name} (${o.kind})`).join(' · ')))
  else card.append(el('div', 'buttons', ...p.options.map(o => {
    const b = button('', () => choose(o.id), o.kind)
    b.append(el('span', 'text', o.label), o.label.includes(o.name) ? '' : el('span', 'dim text', ` “${o.name}”`))
    return b
  })))
  return card
}

// item shows a text or an element beside a word that says what it is.
function item(who, body, className = '') {
  return el('div', `item ${who}`, el('span', 'who', who), typeof body === 'string' ? el('div', `text ${className}`, body) : body)
}

function blocks(content) {
  return (content ?? []).map(b => b.type === 'text' ? b.text : `[${b.type} ${b.uri ?? b.name ?? b.mimeType ?? ''}] ${b.text ?? ''}`).join('\n')
}

function drawItem(kind, v, terminals, html, folds) {
  switch (kind) {
    case 'Message': return drawMessage(v, html, folds)
    case 'ToolCall': return drawTool(v, terminals, folds)
    case 'Notice': return item('notice', `${v.severity}: ${v.title} ${v.description ?? ''}`)
    case 'Compaction': return item('compaction', `${v.status} ${blocks(v.summary)}`, 'dim')
    case 'Subagent': return item('subagent', `${v.title ?? v.sessionId} ${v.state ?? ''}`)
  }
  return item(kind.toLowerCase(), v.type ?? JSON.stringify(v), 'dim mono')
}

// fold returns an element that can be folded. What the person does with it is kept.
function fold(open, className, summary, ...children) {
  const e = el('details', className, summary, ...children)
  e.open = open
  summary.onclick = () => { e.dataset.chosen = true }
  return e
}

function drawMessage(v, html, folds) {
  const body = html ? formatted(html) : el('div', 'text', blocks(v.content))
  if (!folds || v.role !== 'thought') return item(v.role, body)
  const [first] = blocks(v.content).trim().split('\n')
  return item(v.role, fold(false, '', el('summary', 'dim text', first.length > 80 ? `${first.slice(0, 80)}…` : first), body))
}

// formatted returns an element with Markdown that the server has made HTML: it has no raw HTML and no addresses of
// scripts. Images would be loaded from elsewhere, so their texts stand for them. A link says where it leads.
function formatted(html) {
  const e = el('div', 'text markdown')
  e.innerHTML = html
  for (const i of e.querySelectorAll('img')) i.replaceWith(`[image ${i.alt} ${i.getAttribute('src')}]`)
  for (const a of e.querySelectorAll('a')) {
    const address = a.getAttribute('href'), says = a.textContent
    if (!address) a.replaceWith(...a.childNodes)
    else if (says !== address && `mailto:${says}` !== address) a.after(` (${address})`)
    Object.assign(a, { target: '_blank', rel: 'noreferrer noopener' })
    a.removeAttribute('title')
  }
  const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) texts.currentNode.data = visible(texts.currentNode.data)
  for (const pre of e.querySelectorAll('pre')) pre.tabIndex = 0 // it may have to be scrolled
  return e
}

function drawTool(v, terminals, folds) {
  const state = v.ended ? `${v.status}, ended` : v.status
  const tone = v.status === 'failed' ? 'failed' : v.status === 'completed' ? 'done' : 'dim'
  const head = el('summary', '', el('span', 'text', v.title || v.name || v.id), ' ', el('span', 'dim', v.kind), ' ', el('span', tone, state))
  const changed = new Set((v.content ?? []).flatMap(c => c.diff?.changes.map(x => x.path)))
  const parts = (v.locations ?? []).filter(l => !changed.has(l.path)).map(l => el('div', 'dim mono text', l.line ? `${l.path}:${l.line}` : l.path))
  for (const c of v.content ?? []) parts.push(...drawContent(c, terminals))
  const said = [v.rawOutput?.message, v.rawOutput].find(t => typeof t === 'string') // of a failure without content
  if (!parts.length && said) parts.push(scrolled(said))
  if (!parts.length && v.rawInput !== undefined) parts.push(scrolled(JSON.stringify(v.rawInput, null, 2)))
  const open = !folds || v.status !== 'completed' || v.content?.some(c => c.diff)
  return item('tool', parts.length ? fold(open, 'card', head, ...parts) : el('div', 'card', ...head.childNodes))
}

const scrolled = text => Object.assign(el('pre', 'text', text), { tabIndex: 0 })

function drawContent(c, terminals) {
  if (c.terminalId) {
    const shell = terminals[c.terminalId] ?? { command: c.terminalId, output: '' }
    return [scrolled(`$ ${shell.command}\n${shell.output}${shell.exit ? `\n[exit ${shell.exit.code ?? shell.exit.signal ?? ''}]` : ''}`)]
  }
  if (!c.diff) return [scrolled(c.block ? blocks([c.block]) : c.type)]
  const paths = c.diff.changes.map(x => el('div', 'dim mono text', `${x.operation ?? ''} ${x.path ?? ''}`.trim()))
  const pre = scrolled('')
  const lines = c.diff.lines || c.diff.patch
  if (!lines) return paths
  for (const line of lines.trimEnd().split('\n')) pre.append(el('span', { '+': 'line added', '-': 'line removed' }[line[0]] ?? 'line', `${line}\n`))
  return [...paths, pre]
}

function drawPlan(plan) {
  const card = el('div', 'card')
  for (const e of plan.entries ?? []) card.append(el('div', `text ${e.status === 'completed' ? 'done' : ''}`, `${{ completed: '✓', in_progress: '▸', cancelled: '–' }[e.status] ?? '·'} ${e.content}`))
  if (plan.markdown || plan.uri || plan.path) card.append(el('div', 'text', plan.markdown ?? plan.uri ?? plan.path))
  return item('plan', card)
}
