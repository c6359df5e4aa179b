import { bash } from '../completion/bash.js'
import { fish } from '../completion/fish.js'
import { zsh } from '../completion/zsh.js'
import type { Run } from '../context.js'
import { Usage } from '../errors/usage.js'

const scripts = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])

export const run: Run = async (context, [shell = '']) => {
  const script = scripts.get(shell)
  if (script === undefined)
    throw new Usage(`no completion for ${shell}`, '', `give one of ${[...scripts.keys()].join(', ')}`)
  await context.out.write(script())
  return undefined
}
