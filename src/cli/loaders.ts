import type { Run } from './context.js'

/**
 * Where each command's code is. The imports are dynamic: a command's code is a chunk of the bundle that only it loads.
 */
export const loaders: Readonly<Record<string, () => Promise<{ readonly run: Run }>>> = {
  new: () => import('./commands/new.js'),
  append: () => import('./commands/append.js'),
  list: () => import('./commands/list.js'),
  show: () => import('./commands/show.js'),
  log: () => import('./commands/log.js'),
  tree: () => import('./commands/tree.js'),
  replay: () => import('./commands/replay.js'),
  context: () => import('./commands/context.js'),
  undo: () => import('./commands/undo.js'),
  redo: () => import('./commands/redo.js'),
  checkout: () => import('./commands/checkout.js'),
  branch: () => import('./commands/branch.js'),
  label: () => import('./commands/label.js'),
  fork: () => import('./commands/fork.js'),
  compact: () => import('./commands/compact.js'),
  title: () => import('./commands/title.js'),
  discover: () => import('./commands/discover.js'),
  import: () => import('./commands/import.js'),
  export: () => import('./commands/export.js'),
  verify: () => import('./commands/verify.js'),
  repair: () => import('./commands/repair.js'),
  reindex: () => import('./commands/reindex.js'),
  delete: () => import('./commands/delete.js'),
  prune: () => import('./commands/prune.js'),
  archive: () => import('./commands/archive.js'),
  unarchive: () => import('./commands/unarchive.js'),
  relocate: () => import('./commands/relocate.js'),
  stats: () => import('./commands/stats.js'),
  watch: () => import('./commands/watch.js'),
  completion: () => import('./commands/completion.js'),
  demo: () => import('./commands/demo.js'),
}
