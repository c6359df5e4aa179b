import { expect, it } from 'vitest'
import { projectFiles, read } from './pages.js'

/** Words in two pieces, so that this file does not hold them. */
const unwanted = [
  ['/work', '/'],
  ['/Users', '/'],
  ['FIX', 'ME'],
  ['TO', 'DO:'],
].map((pieces) => pieces.join(''))

const binary = /\.(png|jpg|ico|gz|tgz|zip)$/

it('no file names a path of the machine it was written on, or leaves something for later', () => {
  const found = projectFiles()
    .filter(
      (path) => !binary.test(path) && path !== 'package-lock.json' && !path.startsWith('test/fixtures/'),
    )
    .flatMap((path) => {
      const text = read(path)
      return unwanted.filter((word) => text.includes(word)).map((word) => `${path}: ${word}`)
    })
  expect(found).toEqual([])
})
