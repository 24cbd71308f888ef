import axe from 'axe-core'
import type { Page } from 'playwright-core'

const widths = { desktop: 1280, phone: 390 }
/** The side of a sign, compared with its text. */
const signEm = 0.85
/** axe would preload style sheets, which the policy forbids and these tests do not need. */
const run = (rules: string) =>
  `axe.run({ preload: false, resultTypes: ["violations"], ${rules} }).then(({ violations }) => violations)`

/** Dark pages differ only in colors. */
const schemes = { light: run(''), dark: run('runOnly: ["color-contrast", "link-in-text-block"]') }

/** Texts of a chart that overlap each other or a line. */
const covered = `[...document.querySelectorAll(".chart")].flatMap((chart) => {
  const plot = chart.querySelector(".plot > svg path.zero")?.getBoundingClientRect()
  const lines = [...chart.querySelectorAll("path.so-far, path.limit, path.foreseen")].map((line) => line.getBoundingClientRect())
  const words = [...chart.querySelectorAll("text")].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
  return words.flatMap(({ text, box }, index) => [
    ...(lines.some((line) => meet(box, line) && box.right > plot.left) ? [text + " on a line"] : []),
    ...words.slice(index + 1).filter((other) => meet(box, other.box)).map((other) => text + " on " + other.text),
  ])
})`

const seen = `const isClipped = (element) => element !== null && (getComputedStyle(element).clipPath !== "none" || isClipped(element.parentElement))
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("svg") && !isClipped(element)`

/** Texts of a page that overlap each other. The part of a text that its frame cuts off is not there. */
const overprinted = `(() => {
  ${seen}
  const edges = new Map()
  const edgeOf = (element) => {
    if (element === null) return Infinity
    if (!edges.has(element)) edges.set(element, getComputedStyle(element).overflowX === "visible" ? edgeOf(element.parentElement) : element.getBoundingClientRect().right)
    return edges.get(element)
  }
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT)
  const lines = []
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || !isSeen(node.parentElement)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const { top, bottom, left, right } of range.getClientRects()) {
      const box = { top, bottom, left, right: Math.min(right, edgeOf(node.parentElement)) }
      lines.push({ node, text: node.data.trim().slice(0, 30), box })
    }
  }
  lines.sort((one, other) => one.box.top - other.box.top)
  return lines.flatMap(({ node, text, box }, index) => {
    const found = []
    for (let next = index + 1; next < lines.length && lines[next].box.top < box.bottom - 4; next++) {
      const other = lines[next].box
      if (lines[next].node !== node && box.left + 1 < other.right && other.left + 1 < box.right && other.top + 4 < box.bottom) found.push(text + " on " + lines[next].text)
    }
    return found
  })
})()`

/** Options that are wider than their narrowest field, except for long names that users chose. */
const cut = `[...document.querySelectorAll("main select")].flatMap((select) => {
  const { font, paddingLeft, paddingRight } = getComputedStyle(select)
  const [narrowest, arrow] = [240, 20]
  const room = Math.min(narrowest, select.clientWidth) - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow
  const measure = document.createElement("canvas").getContext("2d")
  measure.font = font
  return select.checkVisibility() ? [...select.options].map(({ text }) => text).filter((text) => text.includes(" ") && measure.measureText(text).width > room).map((text) => text + " is cut") : []
})`

/** Signs that are not drawn as squares in the size of their text, because another rule of the stylesheet matches them. */
const distorted = `[...document.querySelectorAll(".sign")].flatMap((sign) => {
  const { width, height } = sign.getBoundingClientRect()
  const size = parseFloat(getComputedStyle(sign.parentElement).fontSize) * ${signEm}
  const isDrawn = [width, height].every((side) => Math.abs(side - size) < 0.5)
  return sign.checkVisibility() && !isDrawn ? [sign.getAttribute("class") + " is drawn " + width + " x " + height + " instead of " + size] : []
})`

/** Words that are broken inside. Ids and code have no words. */
const broken = `(() => {
  ${seen}
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT)
  const found = []
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement
    if (!isSeen(parent) || parent.closest("code, pre, .id")) continue
    for (const { 0: word, index } of node.data.matchAll(/(?<!\\w)\\p{L}{2,}(?!\\w)/gu)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => top))
      if (lines.size > 1) found.push(word + " is broken inside: " + node.data.trim().slice(0, 60))
    }
  }
  return found
})()`

/** Facts that are wider than their column and touch the next fact. */
const crowded = `[...document.querySelectorAll(".facts dd")].flatMap((fact) =>
  fact.scrollWidth > fact.clientWidth ? [fact.textContent + " is wider than its column"] : [])`

/** Tables with columns that are out of sight. */
export const clipped = `[...document.querySelectorAll(".wide, .scroll")].flatMap((frame) =>
  frame.scrollWidth > frame.clientWidth + 1 ? [frame.textContent.slice(0, 30) + " is cut off at " + frame.clientWidth] : [])`

/** The findings of axe at the present width and colors. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const violations = await page.evaluate<axe.Result[]>(schemes.light)
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/** The faults of a page, light and dark, on a phone and on a screen: the findings of axe, and elements that are wider than the page. */
export async function everyLook(page: Page): Promise<string[]> {
  const found: string[] = []
  // This is no script of the page, so the policy against scripts stays in force.
  await page.evaluate(axe.source)
  for (const [device, width] of Object.entries(widths)) {
    await page.setViewportSize({ width, height: 800 })
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (wide > width) found.push(`${device}: ${wide} pixels wide`)
    for (const look of [covered, overprinted, cut, distorted, broken, crowded]) {
      const words = await page.evaluate<string[]>(look)
      found.push(...words.map((each) => `${device}: ${each}`))
    }
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const violations = await page.evaluate<axe.Result[]>(schemes[colorScheme])
      found.push(
        ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${device}, ${colorScheme}: ${id}: ${html}`)),
      )
    }
  }
  return found
}
