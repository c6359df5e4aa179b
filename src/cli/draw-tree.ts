import type { EventId } from '../events/event.js'
import { treeOf } from '../events/tree.js'
import type { TreeNode, TreeView } from '../projections/tree.js'
import { age } from './age.js'
import type { Colours } from './context.js'
import { short } from './names.js'
import { safeLine } from './safe-text.js'
import { type Sketch, sketchOf } from './tree-sketch.js'
import { clipped, widthOf } from './width.js'

export interface TreeDrawing {
  readonly columns: number
  readonly colours: Colours
  readonly now: number
  /** What the root is called. */
  readonly title: string
}

/**
 * Draws a session's tree, growing downwards: the way to the head goes straight down, other branches stand to its right
 * where they leave it. Prompts, answers that end a turn, forks, compactions, checkpoints, names and ends have a line of
 * their own, what lies between is counted. Pure; gives lines.
 */
export const drawTree = (view: TreeView, drawing: TreeDrawing): readonly string[] => {
  const tree = treeOf(view.nodes)
  if (tree === null) return []
  const lines: string[] = []
  const sketch = sketchOf(tree)
  const canvas = { ...drawing, ...sketch, remarks: remarksOf(view, sketch, drawing) }
  drawStem(canvas, { first: tree.root, lead: '', rail: '', depth: 0 }, lines)
  return lines
}

type Remarks = ReadonlyMap<EventId, readonly string[]>

interface Canvas extends TreeDrawing, Sketch {
  readonly remarks: Remarks
}

/** What is said of a node beside what it is: HEAD, branch names at their ends, labels. */
const remarksOf = (view: TreeView, sketch: Sketch, { colours }: TreeDrawing): Remarks => {
  const remarks = new Map<EventId, string[]>()
  const remark = (id: EventId, text: string): void => {
    remarks.set(id, [...(remarks.get(id) ?? []), text])
  }
  remark(sketch.head, colours.bold(colours.cyan('HEAD')))
  for (const { leaf, name, diverged } of view.branches) {
    remark(leaf, colours.green(safeLine(name)))
    if (diverged) remark(leaf, colours.magenta('diverged'))
  }
  for (const leaf of sketch.undone) remark(leaf, colours.dim('undone'))
  for (const { id, label } of view.nodes)
    if (label !== null) remark(id, colours.yellow(`[${safeLine(label)}]`))
  return remarks
}

/** Nodes going straight down. `lead` stands before the first, `rail` before the rest. */
interface Stem {
  readonly first: EventId
  readonly lead: string
  readonly rail: string
  readonly depth: number
}

const drawStem = (canvas: Canvas, stem: Stem, lines: string[]): void => {
  const { children, straight, tree } = canvas
  let passed: TreeNode[] = []
  let before = stem.lead
  for (let node = tree.nodes.get(stem.first); node !== undefined; node = straight.get(node.id)) {
    if (node.id !== stem.first && !standsOut(canvas, node)) {
      passed.push(node)
      continue
    }
    if (passed.length > 0) lines.push(passedLine(canvas, stem, passed))
    passed = []
    lines.push(nodeLine(canvas, before, node, stem.depth))
    before = stem.rail
    const next = straight.get(node.id)
    for (const side of children.get(node.id) ?? []) if (side !== next) drawSide(canvas, stem, side, lines)
  }
}

const drawSide = (canvas: Canvas, stem: Stem, side: TreeNode, lines: string[]): void => {
  const { colours, columns } = canvas
  const paint = railColour(colours, stem.depth)
  if (stem.depth * 2 > columns / 3) {
    lines.push(`${stem.rail}${paint('├─')}${colours.dim('… a branch too deep to draw')}`)
    return
  }
  const lead = `${stem.rail}${paint('├─')}`
  const from = lines.length
  drawStem(canvas, { first: side.id, lead, rail: `${stem.rail}${paint('│')} `, depth: stem.depth + 1 }, lines)
  if (lines.length > from + 1) lines.push(`${stem.rail}${paint('│')}`)
}

/** Whether a node has a line of its own: an end and a fork always have. */
const standsOut = (canvas: Canvas, node: TreeNode): boolean => {
  const { children, remarks } = canvas
  const [next, another] = children.get(node.id) ?? []
  if (next === undefined || another !== undefined || remarks.has(node.id)) return true
  if (node.type !== 'message') return !passedOver.has(node.type)
  if (node.role === 'user') return true
  return node.role === 'assistant' && node.calls === undefined && node.text !== '' && endsTurn(canvas, next)
}

const passedOver: ReadonlySet<string> = new Set(['edit', 'custom', 'restore'])

/** Whether the next event that stands out begins another turn. */
const endsTurn = ({ straight }: Canvas, next: TreeNode): boolean => {
  let node: TreeNode | undefined = next
  while (node !== undefined && passedOver.has(node.type)) node = straight.get(node.id)
  return node === undefined || node.role === 'user' || (node.type !== 'message' && !passedOver.has(node.type))
}

const passedLine = ({ colours }: Canvas, { rail, depth }: Stem, passed: readonly TreeNode[]): string => {
  const kinds = new Map<string, number>()
  for (const { type, role = type } of passed) kinds.set(role, (kinds.get(role) ?? 0) + 1)
  const counts = [...kinds].map(([kind, count]) => `${count} ${safeLine(kind)}`).join(', ')
  return `${rail}${railColour(colours, depth)('┆')} ${colours.dim(counts)}`
}

const nodeLine = (canvas: Canvas, before: string, node: TreeNode, depth: number): string => {
  const { colours, columns, head, now, children } = canvas
  const remarks = canvas.remarks.get(node.id) ?? []
  const decoration = remarks.length === 0 ? '' : `(${remarks.join(', ')}) `
  const isEnd = (children.get(node.id) ?? []).length === 0
  const when = isEnd ? `  ${age(node.at, now)}` : ''
  const mark = railColour(colours, depth)(node.id === head ? '◉' : markOf(node))
  const start = `${before}${mark} ${colours.yellow(short(node.id))} ${decoration}`
  const room = Math.max(12, columns - widthOf(start) - when.length)
  return `${start}${toneOf(node, colours)(clipped(safeLine(textOf(canvas, node)), room))}${colours.dim(when)}`
}

const textOf = ({ title }: TreeDrawing, { type, text, calls = [], name, reason }: TreeNode): string => {
  if (type === 'session') return title
  if (type === 'message' && text === '') return calls.length > 0 ? `→ ${calls.join(', ')}` : '(no text)'
  if (type === 'message') return text
  const what = [type, name ?? reason ?? ''].filter((part) => part !== '').join(' ')
  return text === '' ? what : `${what}: ${text}`
}

const marks: Readonly<Record<string, string>> = {
  session: '◆',
  compaction: '≡',
  branch: '┣',
  checkpoint: '◇',
  restore: '◇',
}

const markOf = ({ type, role }: TreeNode): string =>
  type === 'message' ? (role === 'user' ? '●' : '○') : (marks[type] ?? '·')

const toneOf = ({ type, role }: TreeNode, colours: Colours): ((text: string) => string) => {
  if (type === 'message') return role === 'user' ? colours.bold : String
  if (type === 'session') return colours.bold
  return type === 'compaction' ? colours.magenta : colours.dim
}

const railColour = (colours: Colours, depth: number): ((text: string) => string) => {
  const cycle = [colours.cyan, colours.magenta, colours.blue, colours.green, colours.red]
  return cycle[depth % cycle.length] ?? colours.cyan
}
