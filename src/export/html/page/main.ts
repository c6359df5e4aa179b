import { applyTheme, fillBar } from './bar.js'
import { joinParts } from './branches.js'
import { watchChunks } from './chunks.js'
import { bleach, colour } from './colours.js'
import { showInContext } from './context.js'
import { followLinks, followScrolling } from './moves.js'
import { unfoldForPrinting } from './printing.js'
import { addActions, copyOverBlocks } from './raw.js'

// Before anything is drawn.
document.documentElement.classList.add('js')
applyTheme()

document.addEventListener('DOMContentLoaded', () => {
  joinParts()
  fillBar()
  followLinks()
  followScrolling()
  showInContext()
  unfoldForPrinting()
  copyOverBlocks()
  watchChunks((chunk) => {
    addActions(chunk)
    colour(chunk)
  }, bleach)
})
