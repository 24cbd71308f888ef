"""Compares narrowed execution policies with AWS's resource schemas in cfn-lint, which list CloudFormation's calls."""

import json
import os
import re
from functools import lru_cache

import cfnlint

from exclusions import BESIDES, EXCLUDED, UNGRANTABLE
from reference import actions_like, formats_of, listed

FOLDER = os.path.join(os.path.dirname(cfnlint.__file__), 'data/schemas/resources')


@lru_cache(maxsize=None)
def schemas():
    found = {}
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith('.json'):
            with open(os.path.join(FOLDER, name)) as file:
                schema = json.load(file)
            found[schema['typeName']] = schema
    return found


def calls_of(resource):
    """The calls to create, read, change and delete a resource. CloudFormation does not delete what it retains."""
    kinds = ['create', 'read', 'update']
    if resource.get('DeletionPolicy') != 'Retain':
        kinds.append('delete')
    handlers = schemas()[resource['Type']]['handlers']
    return {call for kind in kinds for call in handlers.get(kind, {}).get('permissions', ())}


def sets(value, path):
    """Whether a value has the property; `*` means each element of a list."""
    if not path:
        return True
    if path[0] == '*':
        return isinstance(value, list) and any(sets(each, path[1:]) for each in value)
    return isinstance(value, dict) and path[0] in value and sets(value[path[0]], path[1:])


def exists(schema, node, path):
    """Whether a schema has the property."""
    while '$ref' in node:
        node = schema['definitions'][node['$ref'].split('/')[-1]]
    if not path:
        return True
    if path[0] == '*':
        return 'items' in node and exists(schema, node['items'], path[1:])
    return path[0] in node.get('properties', {}) and exists(schema, node['properties'][path[0]], path[1:])


def split(type_name, name):
    """The type and the path of a property, which may belong to another type: `AWS::DynamoDB::GlobalTable:Replicas`."""
    other, _, path = name.rpartition(':')
    return other or type_name, path.split('/')


def set_properties(template, row):
    """The properties of an exclusion that a template sets."""
    type_name, _, names = row
    for name in names:
        owner, path = split(type_name, name)
        for id, resource in template['Resources'].items():
            if resource['Type'] == owner and sets(resource.get('Properties', {}), path):
                yield f'{id} sets {name}'


def name_of(stack, id, resource, variable):
    """The name in the template, or one as CloudFormation generates it."""
    properties = resource.get('Properties', {})
    name = properties.get(variable) or properties.get('Name') or properties.get('Budget', {}).get('BudgetName')
    if isinstance(name, dict) and 'Fn::Join' in name:
        name = ''.join(part if isinstance(part, str) else '*' for part in name['Fn::Join'][1])
    return name.lstrip('/') if isinstance(name, str) else f'{stack}-{id}-1ABCDEF'


def arns_of(action, stack, id, resource):
    """The ARNs that an action may be checked with. `*` is a name or id that the resource's template does not decide."""
    own = resource['Type'].split('::')[1].lower() == action.split(':')[0]
    known = {'Partition': 'aws', 'Region': 'us-east-1', 'Account': '123456789012'}

    def filled(variable):
        name = variable.group(1)
        if name in known:
            return known[name]
        return name_of(stack, id, resource, name) if own and ('Name' in name or name == 'SecretId') else '*'

    return [re.sub(r'\$\{(\w+)\}', filled, form) for form in formats_of(action)]


@lru_cache(maxsize=None)
def fits(pattern, arn):
    """Whether the resource of a policy can mean the ARN, whose `*` stands for letters up to the next `:` or `/`."""
    if not pattern or not arn:
        return not (pattern + arn).strip('*')
    if pattern[0] == '*':
        return fits(pattern[1:], arn) or fits(pattern, arn[1:])
    if arn[0] == '*':
        return fits(pattern, arn[1:]) or (pattern[0] not in ':/' and fits(pattern[1:], arn))
    return pattern[0] == arn[0] and fits(pattern[1:], arn[1:])


def resources_by_action(statements):
    """The resources with which a policy allows each action, whatever its conditions. Narrowed policies deny nothing."""
    found = {}
    for statement in statements:
        for pattern in listed(statement['Action']):
            for action in actions_like(pattern):
                found.setdefault(action, set()).update(listed(statement['Resource']))
    return found


def is_allowed(patterns, action, stack, id, resource):
    if not patterns:
        return False
    arns = arns_of(action, stack, id, resource)
    if not arns:
        return '*' in patterns
    return any(fits(pattern, arn) for pattern in patterns for arn in arns)


def refused(deployment, statements, only=None):
    """Each resource with a call that it needs and the statements do not allow; `only` names the calls to check."""
    allowed = resources_by_action(statements)
    for id, resource in deployment.template['Resources'].items():
        calls = calls_of(resource) if only is None else calls_of(resource) & only
        for call in calls:
            if not is_allowed(allowed.get(call, ()), call, deployment.stack, id, resource):
                yield resource, call


def lacking(deployment, statements, only=None):
    """A sentence for each refused call, unless a row excludes it and the template sets none of its properties."""
    for resource, call in refused(deployment, statements, only):
        files = ' and '.join(deployment.files)
        lacks = f'{deployment.name}: {files} lacks {call}, which a {resource["Type"]} needs'
        row = next((row for row in EXCLUDED if row[0] == resource['Type'] and call in row[1]), None)
        if row is not None:
            yield from (f'{lacks}: {why}' for why in set_properties(deployment.template, row))
        elif call not in UNGRANTABLE:
            yield lacks


def without(statement, pattern):
    return statement | {'Action': [each for each in listed(statement['Action']) if each != pattern]}


def is_needed(deployment, file, statement, pattern):
    """Whether something is missing without one action of a statement."""
    files = deployment.files | {
        file: [without(each, pattern) if each is statement else each for each in deployment.files[file]]
    }
    statements = [each for own in files.values() for each in own]
    return any(lacking(deployment, statements, set(actions_like(pattern))))


def superfluous(deployments):
    """A sentence for each action that could be taken away, unless `BESIDES` has the statement."""
    taken = {}
    for deployment in deployments:
        for file, statements in deployment.files.items():
            for statement in statements:
                for pattern in listed(statement['Action']):
                    place = (file, statement['Sid'], pattern)
                    taken[place] = taken.get(place) or is_needed(deployment, file, statement, pattern)
    for (file, sid, pattern), needed in taken.items():
        if not needed and sid not in BESIDES.get(file, {}):
            yield f'{file}: nothing needs {pattern} of {sid}'
    for file, rows in BESIDES.items():
        for sid in rows:
            if not any(place[:2] == (file, sid) and not needed for place, needed in taken.items()):
                yield f'exclusions: {sid} of {file} is not besides the schemas'


def idle(deployments, rows=EXCLUDED):
    """A sentence for each row that nothing needs, or that names a property which does not exist."""
    used = {(each['Type'], call) for it in deployments for each, call in refused(it, it.statements)}
    for type_name, calls, properties in rows:
        for call in calls:
            if (type_name, call) not in used:
                yield f'exclusions: no policy refuses {call} for a {type_name}'
        for name in properties:
            owner, path = split(type_name, name)
            if not exists(schemas()[owner], schemas()[owner], path):
                yield f'exclusions: a {owner} has no property {name}'
    for call in UNGRANTABLE:
        if actions_like(call):
            yield f'exclusions: {call} is an action'
        if all(each != call for _, each in used):
            yield f'exclusions: no resource needs {call}'


def compare(deployments):
    found = {each for it in deployments for each in lacking(it, it.statements)}
    return found.union(superfluous(deployments), idle(deployments))
