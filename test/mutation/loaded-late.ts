// Loads the parts that the product loads later. Otherwise code that runs once at load would count for only the first test that needs it,
// and only that test would judge its mutants.
import '../../functions/api/gateway/gateway.ts'
import '../../shared/guard/background.ts'
import '../../shared/guard/plans-file.ts'
import '../../shared/ledger/views/audit.ts'
import '../../shared/reports/all-reports.ts'
import '../../shared/tracking/forward.ts'
