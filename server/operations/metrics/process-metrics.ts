import type { Counter, Histogram, Registry } from "prom-client";
import * as signals from "../../platform/telemetry/signals.ts";

type PromClient = typeof import("prom-client");

/** From quick requests to files of gigabytes, in seconds. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** From small transcripts to long videos that wait for a slot. */
const workBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];

/** A receiver has 15 seconds. */
const webhookBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/**
 * Metrics of what this process does, counted since its start. Sum them over all processes.
 * Label values come from fixed lists, so the number of series is bounded.
 * @returns ends the counting.
 */
export function countWork(prom: PromClient, registry: Registry): () => void {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]): Counter<L> =>
    new prom.Counter({ name, help, labelNames, registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    buckets: number[],
  ): Histogram<L> => new prom.Histogram({ name, help, labelNames, buckets, registers });

  const inFlight = new prom.Gauge({
    name: "parley_http_requests_in_flight",
    help: "Requests whose response is not complete.",
    registers,
  });
  const requests = counter(
    "parley_http_requests_total",
    "Responses by operation of the API, API version and status; 499: the client disconnected before.",
    ["operation", "version", "status"],
  );
  const requestSeconds = histogram(
    "parley_http_request_duration_seconds",
    "Time from the request's headers to the end of the response, with the transfer of bodies.",
    ["operation"],
    requestBuckets,
  );
  const jobs = counter(
    "parley_jobs_finished_total",
    "Runs of background jobs by result; failures are retried.",
    ["queue", "result"],
  );
  const jobSeconds = histogram(
    "parley_job_duration_seconds",
    "Duration of job runs.",
    ["queue"],
    workBuckets,
  );
  const uploads = counter("parley_uploads_finished_total", "Uploads that became recordings, or failed.", [
    "media_type",
    "result",
  ]);
  const failedUploads = counter(
    "parley_uploads_failed_total",
    "Failed uploads by the status in which they failed.",
    ["stage"],
  );
  const uploadSeconds = histogram(
    "parley_upload_to_recording_seconds",
    "Time from the arrival of an upload's file to its recording; with auto_promote false it includes the wait for the user.",
    ["media_type", "auto_promote"],
    workBuckets,
  );
  const companions = counter(
    "parley_companions_failed_total",
    "Thumbnails, waveforms, storyboards and sounds of speakers that could not be created; their recordings are complete without.",
    ["companion"],
  );
  const models = counter(
    "parley_model_attempts_total",
    "Attempts of the speech and language model; error: retried, failure: permanent.",
    ["model", "result"],
  );
  const deliveries = counter(
    "parley_webhook_deliveries_total",
    "Results of deliveries; retry: an attempt failed and another follows; exhausted: the last attempt failed; gone: the receiver responded with 410.",
    ["result"],
  );
  const deliverySeconds = histogram(
    "parley_webhook_request_duration_seconds",
    "Duration of webhook requests.",
    [],
    webhookBuckets,
  );
  const blocked = counter(
    "parley_event_loop_blocked_seconds_total",
    "Time in blocks of the event loop of more than a second, each named in the log.",
    [],
  );

  const subscriptions = [
    signals.requestStarted.subscribe(() => inFlight.inc()),
    signals.requestFinished.subscribe(({ operation, version, status, seconds }) => {
      inFlight.dec();
      requests.inc({ operation, version, status });
      requestSeconds.observe({ operation }, seconds);
    }),
    signals.jobFinished.subscribe(({ queue, result, seconds }) => {
      jobs.inc({ queue, result });
      jobSeconds.observe({ queue }, seconds);
    }),
    signals.uploadFinished.subscribe(({ mediaType, result, isAutomatic, failure, seconds }) => {
      uploads.inc({ media_type: mediaType, result });
      if (failure !== null) failedUploads.inc({ stage: failure.stage });
      if (result === "success")
        uploadSeconds.observe({ media_type: mediaType, auto_promote: String(isAutomatic) }, seconds);
    }),
    signals.companionFailed.subscribe(({ companion }) => companions.inc({ companion })),
    signals.modelAttempted.subscribe((labels) => models.inc(labels)),
    signals.deliveryResult.subscribe(({ result, seconds }) => {
      deliveries.inc({ result });
      if (seconds !== null) deliverySeconds.observe(seconds);
    }),
    signals.eventLoopBlocked.subscribe(({ seconds }) => blocked.inc(seconds)),
  ];
  return () => {
    for (const end of subscriptions) end();
  };
}
