"""Plants holes, each of which the checks must find: so a check that finds nothing any more does not pass."""

from copy import deepcopy

from exclusions import EXCLUDED
from needed import idle, lacking, split, without
from reference import actions_in, conditions_in, statements_in, unknown_in

NEVER = ('AWS::SQS::Queue', ('sqs:PurgeQueue',), ('QueueName',))


def holes(deployments, documents):
    """Each hole as what was planted, and what the check says."""
    yield from taken_away(deployments)
    yield from moved(deployments)
    yield from property_set(deployments)
    yield 'a row that nothing needs', list(idle(deployments, (*EXCLUDED, NEVER)))
    wrong = ('AWS::IAM::Policy', EXCLUDED[0][1], ('Persons',))
    yield 'a row with a wrong property', [each for each in idle(deployments, (wrong,)) if 'no property' in each]
    yield from misspelt(documents)


def taken_away(deployments):
    """One action of a policy."""
    for file, sid, action in (
        ('execution-policy.json', 'ReadsWithoutResource', 'cloudwatch:DescribeAlarms'),
        ('execution-policy.json', 'Functions', 'lambda:GetFunction*'),
        ('edge-execution-policy.json', 'WithoutResource', 'acm:RequestCertificate'),
        ('app-execution-policy.json', 'Boundary', 'iam:PutRolePermissionsBoundary'),
    ):
        change = lambda each: without(each, action) if each['Sid'] == sid else each
        yield f'{file} without {action}', changed(deployments, file, change)


def moved(deployments):
    """Another resource of a statement."""
    for file, sid, resource in (
        ('execution-policy.json', 'Secrets', 'arn:aws:secretsmanager:*:*:secret:another/*'),
        ('execution-policy.json', 'ReadsWithoutResource', 'arn:aws:logs:*:*:log-group:UnitGuard-*'),
        ('edge-execution-policy.json', 'Rules', 'arn:aws:wafv2:us-east-1:*:global/webacl/another-*/*'),
    ):
        change = lambda each: each | {'Resource': resource} if each['Sid'] == sid else each
        yield f'{file}: {sid} for {resource}', changed(deployments, file, change)


def changed(deployments, file, change):
    found = []
    for deployment in deployments:
        if file in deployment.files:
            files = deployment.files | {file: [change(each) for each in deployment.files[file]]}
            found += lacking(deployment, [each for own in files.values() for each in own])
    return found


def property_set(deployments):
    """Each property of each exclusion, in a template with the resource."""
    for row in EXCLUDED:
        for name in row[2]:
            owner, path = split(row[0], name)
            place = next(
                (it, id)
                for it in deployments
                for id, each in it.template['Resources'].items()
                if each['Type'] == row[0] and 'app-execution-policy.json' not in it.files
            )
            yield f'{row[0]} with {name}', with_property(*place, owner, path, row)


def with_property(deployment, id, owner, path, row):
    template = deepcopy(deployment.template)
    if owner != row[0]:
        template['Resources']['Planted'] = {'Type': owner, 'Properties': value_at(path)}
    else:
        merge(template['Resources'][id].setdefault('Properties', {}), value_at(path))
    planted = deployment._replace(template=template)
    return [each for each in lacking(planted, planted.statements, set(row[1])) if each.endswith('/'.join(path))]


def value_at(path):
    if not path:
        return 'planted'
    return [value_at(path[1:])] if path[0] == '*' else {path[0]: value_at(path[1:])}


def merge(value, more):
    for name, member in more.items():
        if isinstance(value.get(name), dict) and isinstance(member, dict):
            merge(value[name], member)
        else:
            value[name] = member


def misspelt(documents):
    """Each action and each condition key of each policy with one letter more."""
    actions = {each for document in documents.values() for own in statements_in(document) for each in actions_in(own)}
    for action in sorted(actions):
        if not action.endswith('*'):
            yield f'{action} misspelt', unknown_in('planted', statement_of(f'{action}x'))
    for key, action in sorted({pair for document in documents.values() for pair in conditions_in(document)}):
        # A context may have any name, and the reference does not list all global keys.
        if not key.startswith(('aws:', 'kms:EncryptionContext:')):
            yield f'{key} of {action} misspelt', unknown_in('planted', statement_of(action, f'{key}x'))
    other = statement_of('dynamodb:DescribeTable', 'dynamodb:LeadingKeys')
    yield 'a key of another action', unknown_in('planted', other)


def statement_of(action, key=None):
    statement = {'Effect': 'Allow', 'Action': action, 'Resource': '*'}
    return {'Statement': statement | ({'Condition': {'StringEquals': {key: 'x'}}} if key else {})}
