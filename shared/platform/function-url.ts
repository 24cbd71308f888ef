import type { LambdaFunctionURLEvent, StreamifyHandler } from 'aws-lambda'
import type { Env, Hono } from 'hono'
import { streamHandle } from 'hono/aws-lambda'

/**
 * An app behind a function URL, in response streaming mode. What cannot be made a `Request` of, hono answers with a text
 * and no head, which comes out as a 200: here it is a 400, and a GET is none for its body, which nobody reads.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html
 */
export function streamAnswers<E extends Env>(app: Hono<E>): StreamifyHandler<LambdaFunctionURLEvent> {
  const handle = streamHandle(app) as unknown as StreamifyHandler<LambdaFunctionURLEvent>
  return awslambda.streamifyResponse<LambdaFunctionURLEvent>((event, stream, context) =>
    handle(withoutIdleBody(event), awslambda.HttpResponseStream.from(stream, { statusCode: 400 }), context),
  )
}

function withoutIdleBody(event: LambdaFunctionURLEvent): LambdaFunctionURLEvent {
  if (!['GET', 'HEAD'].includes(event.requestContext.http.method)) return event
  const { body: _idle, ...rest } = event
  return rest
}
