import * as fs from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { git, hasGit } from '../checkpoints/desk.js'
import { CodeModel } from './session-code-model.js'
import { commands } from './session-code-steps.js'

const runs = Number(process.env.FC_RUNS ?? 1) * 8

test('whatever tools, users, other sessions and moves do: tracked files are as the model says, untracked ones as they were, and no byte that was replaced is lost', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (all) => {
      const model = await CodeModel.begin()
      try {
        for (const next of all) await model.run(next)
        await model.end()
        if (hasGit && fs.existsSync(model.repository))
          expect(git(model.repository, 'fsck', '--strict', '--full', '--no-dangling')).toBe('')
      } finally {
        model.place.clear()
      }
    }),
    { numRuns: runs },
  )
}, 1_200_000)
