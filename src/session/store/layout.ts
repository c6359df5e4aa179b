import { join } from 'node:path'

/** Where things stand in a store (DESIGN §2). */
export const layout = (root: string) => ({
  projects: join(root, 'projects'),
  removed: join(root, 'removed.jsonl'),
  vault: join(root, 'vault.jsonl'),
  search: join(root, 'search'),
  imports: join(root, 'imports'),
  workspace: (key: string) => workspaceLayout(join(root, 'projects', key)),
})

export const workspaceLayout = (folder: string) => ({
  folder,
  workspaceFile: join(folder, 'workspace.json'),
  index: join(folder, 'metadata.jsonl'),
  archive: join(folder, 'archive'),
  code: join(folder, 'file-history'),
  session: (id: string) => join(folder, id),
  presence: (id: string) => join(folder, id, 'presence'),
})
