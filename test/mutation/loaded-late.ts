// What the product loads when it is first asked for: otherwise what runs once at load would count as code of the one test
// that asks first, and each mutant of it would be judged by that test alone.
import '../../functions/api/gateway/gateway.ts'
import '../../shared/guard/background.ts'
import '../../shared/guard/plans/plans-file.ts'
import '../../shared/ledger/book/audit.ts'
import '../../shared/tracking/forward.ts'
