/** 1234567 → `1.2 MB`. */
export const bytes = (count: number): string => {
  if (count < 1000) return `${count} B`
  const [unit, size] = count < 1e6 ? ['kB', 1e3] : count < 1e9 ? ['MB', 1e6] : ['GB', 1e9]
  return `${(count / (size as number)).toFixed(1)} ${unit}`
}

/** `1 session`, `2 sessions`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
