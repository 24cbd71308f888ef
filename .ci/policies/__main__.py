"""Checks the narrowed execution policies, and every policy of the templates in a folder, with AWS's own data."""

import json
import os
import re
import sys
from collections import namedtuple

import yaml

from needed import compare
from planted import holes
from reference import DOCUMENTED, conditions_in, unknown_in

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/pipeline')


class Deployment(namedtuple('Deployment', 'name stack files template')):
    @property
    def statements(self):
        return [each for statements in self.files.values() for each in statements]


def read(path):
    with open(path) as file:
        return yaml.safe_load(file) if path.endswith('.yml') else json.load(file)


def files_for(variant, stack):
    """The execution policies of a stack. The other stack of an app is not ours."""
    if stack == 'Own':
        return ()
    if stack == 'Edge':
        return ('edge-execution-policy.json',)
    # The only variant that sets what only an app of its own can set.
    if variant == 'everyProp':
        return ('execution-policy.json', 'app-execution-policy.json')
    return ('execution-policy.json',)


def statements_for(file, stack):
    """The statements of a policy; for another prefix, with the replacements that docs/deploy.md asks for."""
    with open(os.path.join(PAGES, file)) as page:
        text = page.read()
    if not stack.startswith('UnitGuard'):
        text = re.sub('unit-guard|UnitGuard', stack, text)
    return json.loads(text)['Statement']


def deployments_in(folder):
    for file in sorted(os.listdir(folder)):
        variant, end = file.removesuffix('.template.json').split('-', 1)
        stack = 'UnitGuard-Edge' if end == 'Edge' else end
        files = {name: statements_for(name, stack) for name in files_for(variant, end)}
        if files:
            yield Deployment(f'{variant}-{end}', stack, files, read(os.path.join(folder, file)))


def main(folder):
    templates = {file: read(os.path.join(folder, file)) for file in sorted(os.listdir(folder))}
    pages = {file: read(os.path.join(PAGES, file)) for file in sorted(os.listdir(PAGES)) if file != 'deploy.yml'}
    documents = templates | pages
    deployments = list(deployments_in(folder))
    found = compare(deployments)
    for name, document in documents.items():
        found |= unknown_in(name, document)
    conditions = {pair for document in documents.values() for pair in conditions_in(document)}
    found |= {f'exclusions: no policy has {" for ".join(pair)}' for pair in DOCUMENTED if pair not in conditions}
    planted = dict(holes(deployments, documents))
    found |= {f'a planted hole was not found: {hole}' for hole, said in planted.items() if not said}
    for sentence in sorted(found):
        print(sentence)
    if not found:
        print(f'the policies of {len(documents)} files have what AWS lists; {len(planted)} planted holes were found')
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
