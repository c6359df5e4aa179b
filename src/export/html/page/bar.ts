import { button, byId, make } from './dom.js'
import { Find } from './find.js'
import { nextTurn } from './moves.js'

const key = 'coppice-theme'
const themes = ['auto', 'dark', 'light'] as const
type Theme = (typeof themes)[number]

/** A page from a file may have no storage. */
const stored = (): Theme => {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? 'auto'
  } catch {
    return 'auto'
  }
}

export const applyTheme = (theme: Theme = stored()): void => {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

const themeButton = (): HTMLButtonElement => {
  let theme = stored()
  const made = button('', '')
  const say = (): void => {
    made.dataset.l = { auto: '◐', dark: '☾', light: '☀' }[theme]
    made.title = `Colours: ${theme}`
    made.setAttribute('aria-label', `Colours: ${theme}`)
  }
  made.id = 'theme'
  made.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
    try {
      localStorage.setItem(key, theme)
    } catch {
      // It holds until the page is closed.
    }
    applyTheme(theme)
    say()
  })
  say()
  return made
}

const keys = [
  ['j', 'next turn'],
  ['k', 'turn before'],
  ['c', 'the context'],
  ['/', 'search; Enter and Shift Enter go through what was found'],
  ['t', 'colours: as the system has it, dark, light'],
  ['?', 'this help'],
] as const

const helpDialog = (): HTMLDialogElement => {
  const dialog = make('dialog', '')
  dialog.setAttribute('aria-labelledby', 'help-title')
  const title = make('h2', '', 'Keys')
  title.id = 'help-title'
  const list = make('dl', '')
  for (const [name, words] of keys) {
    const term = make('dt', '')
    term.append(make('kbd', '', name))
    list.append(term, make('dd', '', words))
  }
  const close = make('button', '', 'Close')
  close.addEventListener('click', () => dialog.close())
  dialog.append(title, list, close)
  return dialog
}

/** The bar's buttons, and the keys that stand for them. */
export const fillBar = (): void => {
  const find = new Find()
  const theme = themeButton()
  const help = button('?', 'Keys')
  help.id = 'help'
  const menu = button('☰', 'Branches and turns')
  menu.id = 'menu'
  menu.setAttribute('aria-controls', 'side')
  const dialog = helpDialog()
  help.addEventListener('click', () => dialog.showModal())
  menu.addEventListener('click', () =>
    menu.setAttribute('aria-expanded', String(byId('side')?.classList.toggle('open'))),
  )
  byId('top')?.prepend(menu)
  byId('top')?.append(find.form, theme, help)
  document.body.append(dialog)
  const actions: Readonly<Record<string, () => void>> = {
    j: () => nextTurn(1),
    k: () => nextTurn(-1),
    c: () => {
      location.hash = '#context'
    },
    '/': () => find.focus(),
    t: () => theme.click(),
    '?': () => dialog.showModal(),
  }
  document.addEventListener('keydown', (event) => {
    const { target } = event
    const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
    if (isTyping || dialog.open || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') byId('side')?.classList.remove('open')
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (action === undefined) return
    event.preventDefault()
    action()
  })
}
