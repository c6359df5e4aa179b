import { statSync } from 'node:fs'
import { NotFound } from '../../events/errors/not-found.js'
import type { NewSession } from '../../session/api.js'
import type { Run } from '../context.js'
import { Usage } from '../errors/usage.js'
import { textOf } from '../input-file.js'

export const run: Run = async (context, _args, options) => {
  // The parser lets only these through.
  const track = options.text('track') as NewSession['track']
  const title = titleOf(options.text('title'))
  const file = options.text('system')
  const system = file === undefined ? undefined : await textOf(context, file)
  mustBeFolder(context.workspace)
  const store = await context.store()
  const session = await store.create({
    workspace: context.workspace,
    cwd: context.cwd,
    ...(title === undefined ? {} : { title }),
    ...(system === undefined ? {} : { system }),
    ...(track === undefined ? {} : { track }),
  })
  const { id } = session
  session.close()
  await (context.json ? context.out.json({ session: id }) : context.out.line(id))
  return undefined
}

/** A session of a workspace that is not there would be found by nobody who works in one. */
const mustBeFolder = (workspace: string): void => {
  const isFolder = statSync(workspace, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder)
    throw new NotFound('workspace', workspace, 'no folder of that name', 'name one with --workspace')
}

/** The rule of title events (docs/FORMAT.md), said before a session is made for nothing. */
export const titleOf = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const title = text.trim()
  const length = [...title].length
  if (length >= 1 && length <= 200) return title
  const advice = length === 0 ? 'give one that says something' : 'give a shorter one'
  throw new Usage(`a title has 1 to 200 characters, this one has ${length}`, '', advice)
}
