import { budgetBodies } from '../../../../shared/api/budgets.ts'
import { list } from '../../../../shared/guard/sentences.ts'
import { type Budget, rootBudget } from '../../../../shared/ledger/definitions/definitions.ts'
import { budgetMembers } from '../../../../shared/records/budget.ts'
import { allOf, type Kinds, namesOf } from '../../../../shared/tracking/kinds.ts'
import { faultsOf, limitsIn, recordForm, type TextsOf } from '../../kit/record-form.ts'

const form = recordForm(budgetMembers)
export const { labels, names: fields, textsIn } = form
export type Texts = TextsOf<typeof budgetMembers>

const noKind = 'none'

export type BudgetWords = ReturnType<typeof budgetWords>

export function budgetWords(kinds: Kinds) {
  const names = namesOf(kinds)
  const everyKind = names.join(' ')
  const { budgetRequest } = budgetBodies(kinds)

  const textsOf = (budget: Budget): Texts => ({
    ...form.textsOf(budget),
    kinds: names.filter((kind) => budget.kinds?.includes(kind) ?? true).join(' ') || noKind,
    unowned: budget.name === rootBudget ? (budget.unowned ?? 'pay') : '',
  })

  /** A choice that was made through the API is offered, too. */
  function kindChoices(now: string): readonly (readonly [value: string, label: string])[] {
    const usual = [everyKind, ...names].map((value) => [value, kindsInWords(value)] as const)
    return usual.some(([value]) => value === now) ? usual : [...usual, [now, kindsInWords(now)]]
  }

  function kindsInWords(value: string): string {
    if (value === everyKind) return allOf(kinds)
    if (value === noKind) return names.length === 2 ? 'neither' : 'none'
    const chosenKinds = value.split(' ')
    return chosenKinds.length === 1 ? `${value} only` : list(chosenKinds)
  }

  const valueText = (field: keyof Texts, value: string): string =>
    field === 'kinds' ? kindsInWords(value) : form.shown(field, value)

  function toRequest(texts: Texts, projects: Budget['projects']) {
    const limits = limitsIn(texts, 'month')
    const chosenKinds = texts.kinds === noKind ? [] : texts.kinds.split(' ')
    const body = form.bodyOf(texts, {
      limits,
      projects,
      parent: texts.parent || null,
      kinds: texts.kinds === everyKind ? undefined : chosenKinds,
    })
    const parsed = budgetRequest.safeParse(body)
    if (!parsed.success) return { kind: 'invalid', faults: faultsOf(parsed.error.issues, limits) } as const
    const { reason: _none, parent, ...request } = parsed.data
    return { kind: 'request', request: { ...request, parent: parent ?? null } } as const
  }

  /** Some fields exist only for the root, and some only for the budgets below the root. */
  function fieldsIn(
    section: string,
    { name, texts, parents }: { name: string; texts: Texts; parents: readonly string[] },
  ) {
    const without: readonly string[] = name === rootBudget ? ['parent', 'enforce'] : ['unowned']
    return form.fieldsIn(section).flatMap((field) => {
      if (without.includes(field.name)) return []
      if (field.name === 'parent') return [{ ...field, choices: parents.map((each) => [each, each] as const) }]
      return [field.name === 'kinds' ? { ...field, choices: kindChoices(texts.kinds) } : field]
    })
  }

  return { textsOf, valueText, toRequest, fieldsIn }
}
