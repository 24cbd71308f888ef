import { describe, expect, test } from 'vitest'
import { realisticAnswers } from './realistic-answers.ts'

const bodiesOf = (truth: 'started' | 'failed') =>
  realisticAnswers.filter((answer) => answer.truth === truth).map(({ body }) => body)

describe('the list of realistic answers', () => {
  test('has 97 failures, then 87 starts', () => {
    expect(bodiesOf('failed')).toHaveLength(97)
    expect(bodiesOf('started')).toHaveLength(87)
    expect(realisticAnswers.map(({ body }) => body)).toEqual([...bodiesOf('failed'), ...bodiesOf('started')])
  })

  test('has no body twice, and one empty body', () => {
    const bodies = realisticAnswers.map(({ body }) => body)
    expect(new Set(bodies).size).toBe(bodies.length)
    expect(bodies.filter((body) => body === '')).toEqual([''])
  })

  test('has no body that looks like JSON and does not parse', () => {
    const parses = (text: string) => {
      try {
        JSON.parse(text)
        return true
      } catch {
        return false
      }
    }
    const json = realisticAnswers.filter(({ body }) => /^[[{]/.test(body))
    expect(json.length).toBeGreaterThan(150)
    expect(json.filter(({ body }) => !parses(body))).toEqual([])
  })
})
