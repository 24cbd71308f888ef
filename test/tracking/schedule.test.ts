import { describe, expect, test } from 'vitest'
import { whatMaySchedule } from '../../shared/tracking/schedule.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const ofCreate = (search: string, body = '{}') => whatMaySchedule('create-project', search, bytes(body))
const ofUpdate = (search: string, body = '{}') => whatMaySchedule('update-project', search, bytes(body))

describe('what may make a project scheduled', () => {
  test.each([
    ['frequency=ondemand', null],
    ['country=US&frequency=ondemand&x=daily', null],
    ['%66requency=%6fndemand', null],
    ['frequency=ondemand&frequent=daily&schedules=daily&update_frequency_note=1', null],
    ['', 'no frequency'],
    ['country=DE', 'no frequency'],
    ['frequency=daily', 'query'],
    ['frequency=weekly', 'query'],
    ['frequency=', 'query'],
    ['frequency', 'query'],
    ['frequency=Ondemand', 'query'],
    ['frequency=ondemand+', 'query'],
    ['frequency=%zz', 'query'],
    ['frequency=ondemand;daily', 'query'],
    ['frequency=ondemand&frequency=ondemand', 'query'],
    ['frequency=ondemand&frequency=daily', 'query'],
    ['frequency=daily&frequency=ondemand', 'query'],
    ['frequency=ondemand&schedule=daily', 'query'],
    ['frequency=ondemand&x=1;schedule=daily', 'query'],
    ['frequency=ondemand&settings[0][schedule]=daily', 'query'],
    ['Frequency=ondemand', 'query'],
    ['+frequency=ondemand', 'query'],
    ['frequency[]=ondemand', 'query'],
  ])('a create with the query %j may schedule the project: %s', (search, place) => {
    expect(ofCreate(search)).toBe(place)
  })

  test.each([
    'frequency=ondemand',
    'schedule=',
    'Frequency=daily',
    'FRE_QUEN-CY=daily',
    '%66requency=daily',
    '%2566requency=daily',
    '%25%36%36requency=daily',
    '+frequency=daily',
    '%09frequency%20=daily',
    'frequency%00x=daily',
    'x%00schedule=daily',
    'frequency%FF=daily',
    'frequency%zz=daily',
    'frequency2=daily',
    'frequency[]=daily',
    'frequency%5B0%5D=daily',
    'project[frequency]=daily',
    'settings.schedule.of=daily',
    'x=1;schedule=daily',
    'x=1;y&%E2%80%8Bsche%C2%ADdule=daily',
    '%EF%BC%A6%EF%BD%92equency=daily',
    '?frequency=daily',
  ])('an update with the query %j may schedule the project', (search) => {
    expect(ofUpdate(search)).toBe('query')
    expect(ofCreate(`frequency=ondemand&${search}`)).toBe('query')
  })

  test.each([
    '{"frequency":"ondemand"}',
    '{"Schedule":null}',
    '{"fre_quen-cy ":"daily"}',
    String.raw`{"\u0066requency":"daily"}`,
    '{"ｆrequency":"daily"}',
    '{"%66requency":"daily"}',
    '{"keywords":[{"name":"a"},{"name":"b","schedule":{}}]}',
    '{"project[frequency]":"daily"}',
    '{"__proto__":{"frequency":"daily"}}',
    '{"websites":[{"pages":[{"settings":{"S C H E D U L E":1}}]}]}',
  ])('a create or update with the body %s may schedule the project', (body) => {
    expect(ofUpdate('', body)).toBe('body')
    expect(ofCreate('frequency=ondemand', body)).toBe('body')
  })

  test('texts, other members and other parameters schedule nothing', () => {
    const body = '{"keywords":[{"name":"frequency"},{"name":"schedule"}],"frequencies":[],"reschedule":1}'
    expect(ofUpdate('', body)).toBe(null)
    expect(ofUpdate('x=frequency&country=schedule&reschedule=1', body)).toBe(null)
    expect(ofCreate('frequency=ondemand', body)).toBe(null)
  })
})
