export const budgetAddress = (name: string, more = ''): string =>
  `/dashboard/budgets/${encodeURIComponent(name)}${more}`
