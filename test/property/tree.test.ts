import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  baseOf,
  branchesOf,
  commonAncestor,
  isOnPath,
  type Node,
  pathTo,
  type Tree,
  treeOf,
} from '../../src/events/tree.js'

const runs = (base: number) => ({ numRuns: Math.ceil(Number(process.env.FC_RUNS ?? 1) * base) })

type Named = Node & { readonly name?: unknown }
const idOf = (n: number): string => n.toString(16).padStart(32, '0')

/** A log of nodes, each on an earlier one; some are heads, some begin a branch, some are notes. */
const log = fc
  .array(fc.tuple(fc.nat(), fc.constantFrom('message', 'message', 'head', 'branch', 'title')), {
    maxLength: 40,
  })
  .map((steps) => {
    const events: Named[] = [{ id: idOf(0), parent: null, type: 'session' }]
    const nodes = [0]
    for (const [i, [pick, type]] of steps.entries()) {
      const parent = idOf(nodes[pick % nodes.length] as number)
      const isNote = type === 'title'
      events.push({
        id: idOf(i + 1),
        parent,
        type,
        ...(isNote && { note: true }),
        ...(type === 'branch' && { name: `b${i}` }),
      })
      if (!isNote) nodes.push(i + 1)
    }
    return events
  })

const treeFrom = (events: readonly Named[]): Tree<Named> => {
  const tree = treeOf(events)
  if (tree === null) throw new Error('no root')
  return tree
}

/** The path by the definition: a node's parent's path, and the node. */
const pathByDefinition = (events: readonly Named[], id: string | null): string[] => {
  const node = events.find((event) => event.id === id)
  return node === undefined ? [] : [...pathByDefinition(events, node.parent), node.id]
}

describe('the tree of a log', () => {
  test('holds every event but notes; its head is the last of them', () => {
    fc.assert(
      fc.property(log, (events) => {
        const nodes = events.filter(({ note }) => note !== true)
        const tree = treeFrom(events)
        expect([...tree.nodes.keys()]).toEqual(nodes.map(({ id }) => id))
        expect([tree.root, tree.head]).toEqual([idOf(0), nodes.at(-1)?.id])
      }),
      runs(200),
    )
  })

  test('leads to each node by its parents, and paths share what their common ancestor ends', () => {
    fc.assert(
      fc.property(log, fc.nat(), (events, pick) => {
        const tree = treeFrom(events)
        const ids = [...tree.nodes.keys()]
        const other = ids[pick % ids.length] as string
        const otherPath = pathByDefinition(events, other)
        for (const id of ids) {
          const path = pathByDefinition(events, id)
          expect(pathTo(tree, id).map((node) => node.id)).toEqual(path)
          const shared = path.filter((step) => otherPath.includes(step))
          expect(commonAncestor(tree, id, other)?.id).toBe(shared.at(-1))
          for (const step of ids) expect(isOnPath(tree, step, id)).toBe(path.includes(step))
          const base = path.findLast((step) => tree.nodes.get(step)?.type !== 'head')
          expect(baseOf(tree, id)).toBe(base)
        }
      }),
      runs(100),
    )
  })

  test('has a branch for each end, `head` events taken as what they hang on, named by the nearest above', () => {
    fc.assert(
      fc.property(log, (events) => {
        const tree = treeFrom(events)
        const bases = [...tree.nodes.values()].filter(({ type }) => type !== 'head')
        const parents = bases.map(({ parent }) => (parent === null ? null : baseOf(tree, parent)))
        const ends = bases.filter(({ id }) => !parents.includes(id))
        const expected = ends.reverse().map(({ id }) => {
          const path = pathTo(tree, id)
          return {
            name: path.findLast(({ type }) => type === 'branch')?.name ?? 'main',
            leaf: id,
            events: path.filter(({ type }) => type !== 'head').length,
          }
        })
        expect(branchesOf(tree)).toEqual(expected)
      }),
      runs(200),
    )
  })

  test('of any links at all, cycles and missing parents among them, is walked in bounded steps (INV-6)', () => {
    const anyLinks = fc.array(
      fc.record({
        id: fc.nat({ max: 12 }).map(idOf),
        parent: fc.option(fc.nat({ max: 14 }).map(idOf)),
        type: fc.constantFrom('message', 'head', 'branch'),
        name: fc.constantFrom(undefined, 'b', 7),
      }),
      { minLength: 1, maxLength: 20 },
    )
    fc.assert(
      fc.property(anyLinks, (nodes) => {
        const tree = treeFrom(nodes)
        for (const id of tree.nodes.keys()) {
          expect(pathTo(tree, id).length).toBeLessThanOrEqual(tree.nodes.size)
          commonAncestor(tree, id, tree.head)
          isOnPath(tree, 'nowhere', id)
          baseOf(tree, id)
        }
        branchesOf(tree)
        expect(pathTo(tree, 'nowhere')).toEqual([])
      }),
      runs(300),
    )
  })

  test('a log of notes, or of nothing, has none', () => {
    expect(treeOf([])).toBe(null)
    expect(treeOf([{ id: idOf(1), parent: idOf(0), type: 'title', note: true }])).toBe(null)
  })
})
