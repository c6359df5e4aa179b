import { linkTimes, reveal } from './chunks.js'
import { all, make } from './dom.js'

/** A message of the context, opened, shows the text that it points at. */
export const showInContext = (): void => {
  document.addEventListener(
    'toggle',
    ({ target }) => {
      const fold = target as HTMLDetailsElement
      if (!fold.matches?.('.xd') || !fold.open || fold.querySelector('.xo') !== null) return
      const copy = make('div', 'xo')
      for (const link of all('a', fold)) {
        const event = reveal(link.getAttribute('href')?.slice(1) ?? '')
        if (event === null) continue
        linkTimes(event)
        const text = event.cloneNode(true) as HTMLElement
        for (const element of [text, ...text.querySelectorAll<HTMLElement>('[id], .act')])
          if (element.classList.contains('act')) element.remove()
          else element.removeAttribute('id')
        // Results are messages of their own here.
        for (const result of text.querySelectorAll('.ca > .re')) result.remove()
        copy.append(text)
      }
      fold.append(copy)
    },
    true,
  )
}
