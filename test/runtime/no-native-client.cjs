// The compiled part of the runtime client is left out: it asks for the next event and sends whole answers. The streams of
// answers that are tested here are its JavaScript, and so is its other way to ask for events.
const Module = require('node:module')

const load = Module._load
Module._load = (request, ...rest) => (request === './rapid-client.node' ? {} : load(request, ...rest))
