"""Generated clients make a budget, ask for an update, are refused, read the problem, raise the limit, ask again, and read.

clients.py <name of a class below>...
"""

import importlib
import os
import re
import sys

URL = os.environ["UNIT_GUARD_URL"]
TOKEN = os.environ["UNIT_GUARD_TOKEN"]


class OfOpenapiPythonClient:
    """It returns problems."""

    project = "globex"

    def __init__(self):
        from unit_guard_client import AuthenticatedClient, models

        self.client, self.models = AuthenticatedClient(base_url=URL, token=TOKEN), models

    def call(self, group, operation, *args, **named):
        module = importlib.import_module(f"unit_guard_client.api.{group}.{operation}")
        return module.sync(*args, client=self.client, **named)

    def sending(self, group, operation, body, *args, **named):
        return self.call(group, operation, *args, body=body, **named)

    refused = call
    refused_sending = sending


class OfOpenapiGenerator:
    """It raises problems."""

    project = "initech"

    def __init__(self):
        import openapi_client

        self.client = openapi_client.ApiClient(openapi_client.Configuration(host=URL, access_token=TOKEN))
        self.models = openapi_client

    def call(self, group, operation, *args, **named):
        name = "".join(word.capitalize() for word in group.split("_"))
        return getattr(getattr(self.models, f"{name}Api")(self.client), operation)(*args, **named)

    def sending(self, group, operation, body, *args, **named):
        return self.call(group, operation, *args, body, **named)

    def refused(self, *args, **named):
        try:
            self.call(*args, **named)
        except self.models.ApiException as error:
            return error.data
        raise AssertionError("the request is not refused")

    def refused_sending(self, group, operation, body, *args, **named):
        return self.refused(group, operation, *args, body, **named)


READS = [
    ("budgets", "list_budgets", {}),
    ("budgets", "get_forecast", {}),
    ("entries_and_statements", "get_statement", {}),
    ("entries_and_statements", "get_audit", {}),
    ("entries_and_statements", "list_changes", {}),
    ("callers", "list_callers", {}),
    ("plans", "list_plans", {}),
    ("updates", "list_updates", {}),
    ("the_guard_itself", "get_status", {}),
    ("the_guard_itself", "get_health", {}),
    ("the_guard_itself", "get_readiness", {}),
]


def plain(value):
    """The value of a member of an enum, or of a wrapped union."""
    return getattr(value, "value", getattr(value, "actual_instance", value))


def type_of(problem):
    """`type` is a name of Python itself, which one generator leaves free."""
    return plain(getattr(problem, "type_", None) or problem.type)


def equal(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


def check(client):
    budget = f"of-{client.project}"
    budget_request, request_of = client.models.BudgetRequest.from_dict, client.models.UpdatesRequest.from_dict
    update = request_of({"kind": "ranking", "project": client.project, "budget": budget, "reason": "a check"})

    missing = plain(client.refused("budgets", "get_budget", budget))
    equal((type_of(missing), missing.status), ("/problems/not-found", 404))

    small = budget_request({"limits": [{"window": "month", "units": 1}]})
    made = client.sending("budgets", "put_budget", small, budget)
    [limit] = made.limits
    equal((made.name, plain(made.frozen), plain(limit.window), plain(limit.units)), (budget, False, "month", 1))

    problem = plain(client.refused_sending("updates", "ask_for_updates", update, idempotency_key=f"{budget}-1"))
    equal((type_of(problem), problem.status), ("/problems/over-budget", 402))
    [counter] = [plain(each) for each in problem.budgets]
    equal((counter.budget, plain(counter.window), plain(counter.limit), counter.available), (budget, "month", 1, 1))
    equal((problem.short, counter.short), (problem.units - 1, problem.units - 1))
    [recorded] = problem.updates
    equal((plain(recorded.state), recorded.budget, recorded.units.estimated), ("refused", budget, problem.units))

    large = budget_request({"limits": [{"window": "month", "units": "unlimited"}]})
    client.sending("budgets", "put_budget", large, budget)
    [settled] = client.sending("updates", "ask_for_updates", update, idempotency_key=f"{budget}-2").updates
    equal((plain(settled.state), settled.units.charged), ("settled", problem.units))

    stop = client.models.Reason.from_dict({"reason": "a check"})
    frozen = plain(client.sending("budgets", "freeze_budget", stop, budget).frozen)
    equal(frozen.reason, "a check")

    for group, operation, named in READS:
        answer = client.call(group, operation, **named)
        assert answer is not None and not re.match("Problem", type(answer).__name__), f"{operation}: {answer!r}"
    rows = {row.budget: row.charged for row in client.call("entries_and_statements", "get_statement").rows}
    equal(rows[budget], problem.units)
    return f"{problem.detail} {len(READS)} answers were read."


for name in sys.argv[1:]:
    sys.stdout.write(f"{name}: {check(globals()[name]())}\n")
