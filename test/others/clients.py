"""Two generated clients make a budget, ask for an update, are refused, read the problem, raise the limit and ask again."""

import os
import sys

URL = os.environ["UNIT_GUARD_URL"]
TOKEN = os.environ["UNIT_GUARD_TOKEN"]


class OfOpenapiPythonClient:
    """It returns problems."""

    project = "globex"

    def __init__(self):
        from unit_guard_client import AuthenticatedClient, models
        from unit_guard_client.api.budgets import get_budget, put_budget
        from unit_guard_client.api.updates import ask_for_updates

        self.client, self.models = AuthenticatedClient(base_url=URL, token=TOKEN), models
        self.get_budget, self.put_budget, self.ask_for_updates = get_budget, put_budget, ask_for_updates

    def missing(self, budget):
        return self.get_budget.sync(budget, client=self.client)

    def put(self, budget, body):
        request = self.models.BudgetRequest.from_dict(body)
        return self.put_budget.sync(budget, client=self.client, body=request)

    def ask(self, key, body):
        request = self.models.UpdatesRequest.from_dict(body)
        return self.ask_for_updates.sync(client=self.client, body=request, idempotency_key=key)

    refused = ask


class OfOpenapiGenerator:
    """It raises problems."""

    project = "initech"

    def __init__(self):
        import openapi_client

        client = openapi_client.ApiClient(openapi_client.Configuration(host=URL, access_token=TOKEN))
        self.models = openapi_client
        self.budgets, self.updates = openapi_client.BudgetsApi(client), openapi_client.UpdatesApi(client)

    def problem(self, call):
        try:
            call()
        except self.models.ApiException as error:
            return error.data
        raise AssertionError("the request is not refused")

    def missing(self, budget):
        return self.problem(lambda: self.budgets.get_budget(budget))

    def put(self, budget, body):
        return self.budgets.put_budget(budget, self.models.BudgetRequest.from_dict(body))

    def ask(self, key, body):
        return self.updates.ask_for_updates(self.models.UpdatesRequest.from_dict(body), idempotency_key=key)

    def refused(self, key, body):
        return self.problem(lambda: self.ask(key, body))


def plain(value):
    """The value of a member of an enum, or of a wrapped union."""
    return getattr(value, "value", getattr(value, "actual_instance", value))


def type_of(problem):
    """`type` is a name of Python itself, which one generator leaves free."""
    return plain(getattr(problem, "type_", None) or problem.type)


def equal(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


for make in (OfOpenapiPythonClient, OfOpenapiGenerator):
    client = make()
    budget = f"of-{client.project}"
    update = {"kind": "ranking", "project": client.project, "budget": budget, "reason": "a check of clients"}

    missing = plain(client.missing(budget))
    equal((type_of(missing), missing.status), ("/problems/not-found", 404))

    made = client.put(budget, {"limits": [{"window": "month", "units": 1}]})
    [limit] = made.limits
    equal((made.name, plain(made.frozen), plain(limit.window), plain(limit.units)), (budget, False, "month", 1))

    problem = plain(client.refused(f"{budget}-1", update))
    equal((type_of(problem), problem.status), ("/problems/over-budget", 402))
    [counter] = [plain(each) for each in problem.budgets]
    equal((counter.budget, plain(counter.window), plain(counter.limit), counter.available), (budget, "month", 1, 1))
    equal((problem.short, counter.short), (problem.units - 1, problem.units - 1))
    [recorded] = problem.updates
    equal((plain(recorded.state), recorded.budget, recorded.units.estimated), ("refused", budget, problem.units))

    client.put(budget, {"limits": [{"window": "month", "units": "unlimited"}]})
    [settled] = client.ask(f"{budget}-2", update).updates
    equal((plain(settled.state), settled.units.charged), ("settled", problem.units))
    sys.stdout.write(f"{make.__name__}: {problem.detail}\n")
