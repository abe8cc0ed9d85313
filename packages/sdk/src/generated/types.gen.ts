// Generated from the OpenAPI document by npm run generate. Do not edit.

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

export type Webhooks = OnRecordingAddedWebhookRequest | OnRecordingUpdatedWebhookRequest | OnRecordingDeletedWebhookRequest | OnHighlightAddedWebhookRequest | OnHighlightUpdatedWebhookRequest | OnHighlightDeletedWebhookRequest | OnStoryAddedWebhookRequest | OnStoryUpdatedWebhookRequest | OnStoryDeletedWebhookRequest | OnUploadAddedWebhookRequest | OnUploadUpdatedWebhookRequest | OnTranscriptionUpdatedWebhookRequest | OnCommentAddedWebhookRequest | OnCommentUpdatedWebhookRequest | OnCommentDeletedWebhookRequest;

export type RecordingFilter = {
    /**
     * Only recordings whose start_datetime is after the value (exclusive). For tokens with datetime_filters=by-name: before the value (exclusive).
     */
    before_datetime?: string;
    /**
     * Only recordings whose start_datetime is before the value (inclusive). For tokens with datetime_filters=by-name: after the value (inclusive).
     */
    after_datetime?: string;
    /**
     * Personal tokens only. hosted: the user recorded it; attended: the user took part.
     */
    attendance?: 'hosted' | 'attended';
    /**
     * external: at least one participant is external. internal: all other recordings, also those without participants or with participants of unknown scope.
     */
    participant_scope?: 'internal' | 'external';
    /**
     * Part of the title; case and accents are ignored.
     */
    title_search?: string;
    /**
     * Team id.
     */
    team?: string;
    /**
     * Meeting type id.
     */
    meeting_type?: string;
};

export type UploadAttributesInput = {
    /**
     * Generated when not given.
     */
    title?: string | null;
    /**
     * When the recording took place; must not be in the future.
     */
    start_datetime?: string | null;
    /**
     * Team to attach the recording to.
     */
    team_id?: string | null;
    /**
     * Users credited as recorders, from List Users; required for workspace tokens.
     */
    recorder_ids?: Array<string>;
    participants?: Array<{
        name?: string | null;
        email?: string | null;
        phone?: string | null;
        /**
         * Matches the speaker_key of transcript segments.
         */
        speaker_key?: string | null;
    }>;
    /**
     * Required for media_type transcript.
     */
    transcript?: {
        language: string;
        /**
         * At most 50000 segments with 5000000 characters of text in all.
         */
        segments: Array<{
            speaker_key: string;
            /**
             * Milliseconds from the start of the recording.
             */
            start: number;
            end: number;
            /**
             * At most 10000 characters, counted after collapsing runs of whitespace. Split longer texts into several segments.
             */
            text: string;
        }>;
    };
};

export type UploadFilter = {
    media_type?: 'audio' | 'transcript' | 'video';
};

export type HookFilter = {
    hook_type?: 'recording_added' | 'recording_updated' | 'recording_deleted' | 'highlight_added' | 'highlight_updated' | 'highlight_deleted' | 'story_added' | 'story_updated' | 'story_deleted' | 'upload_added' | 'upload_updated' | 'transcription_updated' | 'comment_added' | 'comment_updated' | 'comment_deleted';
    state?: 'enabled' | 'disabled';
};

export type RecordingAddedPayload = {
    type: 'recording_added';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: RecordingEventData;
};

export type RecordingEventData = {
    id: string;
    title: string;
    /**
     * UTC time at which the recording started.
     */
    start_datetime: string;
    /**
     * UTC time at which the recording ended.
     */
    end_datetime: string;
    duration_ms: number;
    media_type: 'audio' | 'transcript' | 'video';
    source: 'aircall' | 'local_capture' | 'meet' | 'teams' | 'upload' | 'webex' | 'zoom' | 'other';
    /**
     * public: anyone with the link; workspace: all workspace members; restricted: only people with access.
     */
    share_state: 'public' | 'workspace' | 'restricted';
    /**
     * Link to the recording in the service.
     */
    url: string;
    thumbnail_url: string | null;
    tags: Array<string>;
    /**
     * Teams the recording belongs to.
     */
    teams: Array<Team>;
    /**
     * True when shared with the whole workspace.
     */
    workspace_shared: boolean;
    recorders: Array<{
        /**
         * User id.
         */
        id: string;
        name: string;
        email: string;
    }>;
    meeting_type: MeetingType | null;
    /**
     * With include.highlights.
     */
    highlights?: Array<Highlight>;
    /**
     * With include.ai_template_sections.
     */
    ai_template_sections?: Array<AiTemplateSection>;
    /**
     * With include.ai_action_items.
     */
    ai_action_items?: Array<ActionItem>;
    /**
     * With include.ai_summary.
     */
    ai_summary?: {
        /**
         * Markdown.
         */
        text: string;
    };
    /**
     * With include.calendar_event.
     */
    calendar_event?: CalendarEvent | null;
    /**
     * With include.crm.
     */
    crm?: Crm;
    /**
     * As crm; only for tokens with compatibility=hubspot.
     */
    hubspot?: Hubspot;
    /**
     * With include.participants.
     */
    participants?: Array<Participant>;
    /**
     * With include.private_notes (personal tokens only).
     */
    private_notes?: {
        /**
         * Markdown.
         */
        text: string;
    } | null;
    /**
     * With include.screenshares.
     */
    screenshares?: Array<Screenshare>;
};

export type Team = {
    id: string;
    name: string;
};

export type MeetingType = {
    id: string;
    name: string;
    scope: 'internal' | 'external';
};

export type Highlight = {
    id: string;
    recording_id: string;
    /**
     * Short description; acts as title.
     */
    text: string;
    /**
     * What is said in the clip; with include.transcript.
     */
    transcript?: string;
    /**
     * Who speaks in the clip; with include.speakers.
     */
    speakers?: Array<string>;
    /**
     * Milliseconds at which the clip starts.
     */
    timestamp: number;
    /**
     * Length in milliseconds.
     */
    duration: number;
    tags: Array<string>;
    url: string;
    thumbnail_url: string;
    created_datetime: string;
};

export type AiTemplateSection = {
    title: string;
    data: {
        [key: string]: unknown;
    };
};

export type ActionItem = {
    status: 'pending' | 'completed';
    /**
     * Milliseconds at which it was mentioned.
     */
    timestamp: number;
    text: string;
    assignee: {
        id: string;
        name: string;
        user_id: string | null;
    } | null;
};

export type CalendarEvent = {
    ical_uid: string | null;
    scheduled_start_datetime: string | null;
    scheduled_end_datetime: string | null;
};

export type Crm = {
    crm_company_ids: Array<string>;
    crm_deal_ids: Array<string>;
};

export type Hubspot = {
    hubspot_company_ids: Array<string>;
    hubspot_deal_ids: Array<string>;
};

export type Participant = {
    id: string;
    name: string;
    email: string | null;
    scope: 'internal' | 'external' | 'unknown';
    /**
     * True when present in the recording.
     */
    confirmed_attendee: boolean;
    /**
     * Only with include.crm.
     */
    crm_contact_id?: string | null;
    /**
     * As crm_contact_id; only for tokens with compatibility=hubspot.
     */
    hs_contact_id?: string | null;
    observed_join_time: string | null;
    observed_leave_time: string | null;
};

export type Screenshare = {
    start: number;
    end: number;
    participant_id: string;
};

export type RecordingUpdatedPayload = {
    type: 'recording_updated';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: RecordingEventData;
};

export type RecordingDeletedPayload = {
    type: 'recording_deleted';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: DeletedEventData;
};

export type DeletedEventData = {
    id: string;
};

export type HighlightAddedPayload = {
    type: 'highlight_added';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: Highlight;
};

export type HighlightUpdatedPayload = {
    type: 'highlight_updated';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: Highlight;
};

export type HighlightDeletedPayload = {
    type: 'highlight_deleted';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: HighlightDeletedEventData;
};

export type HighlightDeletedEventData = {
    id: string;
    recording_id: string;
};

export type StoryAddedPayload = {
    type: 'story_added';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: Story;
};

export type Story = {
    id: string;
    title: string;
    description: string;
    /**
     * Link to the story in the service.
     */
    url: string;
    /**
     * Link that works without signing in; null if the story is not public.
     */
    public_url: string | null;
    banner_image_url: string | null;
    created_datetime: string;
    last_edited_datetime: string;
    tags: Array<string>;
    /**
     * In order; only highlights of recordings that the caller can see.
     */
    highlights: Array<Highlight>;
};

export type StoryUpdatedPayload = {
    type: 'story_updated';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: Story;
};

export type StoryDeletedPayload = {
    type: 'story_deleted';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: DeletedEventData;
};

export type UploadAddedPayload = {
    type: 'upload_added';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: UploadEventData;
};

export type UploadEventData = {
    id: string;
    media_type: 'audio' | 'transcript' | 'video';
    title: string;
    status: 'initial' | 'awaiting' | 'processing' | 'staged' | 'promoting' | 'success' | 'failure';
    auto_promote: boolean;
    /**
     * Set only once status is success.
     */
    recording_id: string | null;
    created_datetime: string;
    updated_datetime: string;
    attributes?: UploadAttributes;
};

/**
 * With include.attributes or include.transcript.
 */
export type UploadAttributes = {
    title: string;
    start_datetime?: string | null;
    team_id?: string | null;
    recorder_ids?: Array<string>;
    participants?: Array<{
        name: string | null;
        email: string | null;
        phone: string | null;
        speaker_key: string | null;
    }>;
    transcript?: {
        language: string;
        segments: Array<{
            speaker_key: string;
            start: number;
            end: number;
            text: string;
        }>;
        anonymous_speakers: Array<{
            speaker_key: string;
            name: string;
        }>;
    };
};

export type UploadUpdatedPayload = {
    type: 'upload_updated';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: UploadEventData;
};

export type TranscriptionUpdatedPayload = {
    type: 'transcription_updated';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: TranscriptionEventData;
};

export type TranscriptionEventData = {
    recording_id: string;
    status: 'running' | 'done' | 'failed';
    /**
     * What a running transcription does: reads the audio, recognizes words, or tells speakers apart. null: it has not begun.
     */
    stage: 'audio' | 'words' | 'speakers' | null;
    /**
     * Percentage that is done.
     */
    progress: number;
    /**
     * Why it failed; null unless status is failed.
     */
    error: string | null;
};

export type CommentAddedPayload = {
    type: 'comment_added';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: Comment;
};

export type Comment = {
    id: string;
    recording_id: string;
    /**
     * The first comment of the thread; null for that comment.
     */
    parent_id: string | null;
    /**
     * null: the comment was deleted. It is listed without its text while it has replies.
     */
    author: User | null;
    /**
     * Markdown of links and emphasis only. A mention is `@` and the name.
     */
    text: string;
    /**
     * Milliseconds from the start of the recording; null: about the whole recording, or a reply.
     */
    timestamp: number | null;
    /**
     * The mentioned users.
     */
    mentions: Array<User>;
    /**
     * Each emoji with the users who reacted with it, the earliest first.
     */
    reactions: Array<{
        emoji: string;
        user_ids: Array<string>;
    }>;
    created_datetime: string;
    edited_datetime: string | null;
    /**
     * When the thread was resolved; null: it is open.
     */
    resolved_datetime: string | null;
    resolved_by: User | null;
};

export type User = {
    id: string;
    name: string;
    /**
     * Primary email.
     */
    email: string;
};

export type CommentUpdatedPayload = {
    type: 'comment_updated';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: Comment;
};

export type CommentDeletedPayload = {
    type: 'comment_deleted';
    /**
     * The hook's owner.
     */
    user_id: string;
    data: CommentDeletedEventData;
};

export type CommentDeletedEventData = {
    id: string;
    recording_id: string;
};

export type RecordingInclude = {
    highlights?: boolean;
    participants?: boolean;
    ai_action_items?: boolean;
    ai_summary?: boolean;
    /**
     * Personal tokens only.
     */
    private_notes?: boolean;
    calendar_event?: boolean;
    crm?: boolean;
    /**
     * As crm, for tokens with compatibility=hubspot; otherwise ignored.
     */
    hubspot?: boolean;
    screenshares?: boolean;
    ai_template_sections?: {
        /**
         * Default: json.
         */
        format?: 'json' | 'markdown' | 'text';
        /**
         * Only sections with one of these titles, ignoring case; empty: all sections.
         */
        allowed_sections?: Array<string>;
    };
};

export type UploadInclude = {
    /**
     * The attributes except the transcript.
     */
    attributes?: boolean;
    transcript?: boolean;
};

export type Success = {
    success: true;
};

/**
 * An error, as RFC 9457 defines it.
 */
export type Problem = {
    /**
     * Link to the description of this kind of error.
     */
    type: string;
    /**
     * What kind of error this is; the same for every occurrence.
     */
    title: string;
    /**
     * The HTTP status of the response.
     */
    status: number;
    /**
     * What went wrong this time and what to do about it.
     */
    detail: string;
    /**
     * The same as `detail`, for clients that show this field of an error.
     */
    message: string;
    /**
     * Machine-readable code; never changes its meaning.
     */
    error: 'version_missing' | 'version_unknown' | 'version_retired' | 'token_missing' | 'token_invalid' | 'sign_in_refused' | 'second_factor_required' | 'second_factor_setup_required' | 'refused_by_rule' | 'proof_required' | 'password_required' | 'password_wrong' | 'rate_limited' | 'bad_request' | 'invalid_json' | 'invalid_input' | 'invalid_cursor' | 'cursor_expired' | 'hook_unreachable' | 'forbidden' | 'quota_exceeded' | 'not_found' | 'not_in_version' | 'method_not_allowed' | 'link_invalid' | 'link_expired' | 'wrong_state' | 'already_uploaded' | 'precondition_failed' | 'precondition_required' | 'range_not_satisfiable' | 'body_too_large' | 'unsupported_encoding' | 'misdirected_request' | 'uri_too_long' | 'headers_too_large' | 'request_timeout' | 'internal' | 'unavailable';
    /**
     * Identifies this request in the server's log.
     */
    request_id: string;
    /**
     * Why exactly, where `error` says too little.
     */
    cause?: Cause;
    /**
     * Every invalid value in the input.
     */
    violations?: Array<{
        /**
         * JSON pointer (RFC 6901) to the invalid value in the body.
         */
        pointer: string;
        /**
         * The rule that the value breaks.
         */
        detail: string;
        /**
         * The same for clients with texts of their own.
         */
        cause?: Cause;
    }>;
    /**
     * For `second_factor_required`: what the account accepts as `code`.
     */
    methods?: Array<'totp' | 'recovery_code'>;
    /**
     * For `wrong_state` of a transcript edit: the transcript's current version.
     */
    transcript_version?: number;
};

/**
 * Why exactly, for clients with texts of their own.
 */
export type Cause = {
    /**
     * Machine-readable code; never changes its meaning. More codes are added.
     */
    code: string;
    /**
     * What the text names, such as a limit.
     */
    values: {
        [key: string]: string | number | Array<string>;
    };
};

export type Recording = {
    id: string;
    title: string;
    /**
     * UTC time at which the recording started.
     */
    start_datetime: string;
    /**
     * UTC time at which the recording ended.
     */
    end_datetime: string;
    duration_ms: number;
    media_type: 'audio' | 'transcript' | 'video';
    source: 'aircall' | 'local_capture' | 'meet' | 'teams' | 'upload' | 'webex' | 'zoom' | 'other';
    /**
     * public: anyone with the link; workspace: all workspace members; restricted: only people with access.
     */
    share_state: 'public' | 'workspace' | 'restricted';
    /**
     * Link to the recording in the service.
     */
    url: string;
    thumbnail_url: string | null;
    tags: Array<string>;
    /**
     * Teams the recording belongs to.
     */
    teams: Array<Team>;
    /**
     * True when shared with the whole workspace.
     */
    workspace_shared: boolean;
    /**
     * Users that recorded the meeting.
     */
    recorders: Array<Recorder>;
    meeting_type: MeetingType | null;
    /**
     * With include.highlights.
     */
    highlights?: Array<Highlight>;
    /**
     * With include.ai_template_sections.
     */
    ai_template_sections?: Array<AiTemplateSection>;
    /**
     * With include.ai_action_items.
     */
    ai_action_items?: Array<ActionItem>;
    /**
     * With include.ai_summary.
     */
    ai_summary?: {
        /**
         * Markdown.
         */
        text: string;
    };
    /**
     * With include.calendar_event.
     */
    calendar_event?: CalendarEvent | null;
    /**
     * With include.crm.
     */
    crm?: Crm;
    /**
     * As crm; only for tokens with compatibility=hubspot.
     */
    hubspot?: Hubspot;
    /**
     * With include.participants.
     */
    participants?: Array<Participant>;
    /**
     * With include.private_notes (personal tokens only).
     */
    private_notes?: {
        /**
         * Markdown.
         */
        text: string;
    } | null;
    /**
     * With include.screenshares.
     */
    screenshares?: Array<Screenshare>;
};

export type Recorder = {
    /**
     * User id.
     */
    id: string;
    name: string;
    email: string;
    /**
     * Present only when participants are included.
     */
    participant_id?: string | null;
};

export type Upload = {
    id: string;
    media_type: 'audio' | 'transcript' | 'video';
    title: string;
    status: 'initial' | 'awaiting' | 'processing' | 'staged' | 'promoting' | 'success' | 'failure';
    auto_promote: boolean;
    /**
     * Set only once status is success.
     */
    recording_id: string | null;
    created_datetime: string;
    updated_datetime: string;
    attributes?: UploadAttributes;
    media?: UploadMedia;
    /**
     * Present only while status is failure.
     */
    failure?: {
        reason: string;
        /**
         * The same for clients with texts of their own. Absent where `reason` has none.
         */
        causes?: Array<Cause>;
    };
};

export type UploadMedia = {
    status: 'awaiting' | 'url_expired';
    upload: {
        /**
         * Target of the file PUT.
         */
        url: string;
        expires_at: string;
        /**
         * Headers required on the PUT.
         */
        headers: {
            [key: string]: string;
        };
        max_duration_sec: number;
        max_upload_bytes: number;
        /**
         * Alternative endpoint for a resumable upload in chunks with the tus 1.0 protocol (https://tus.io).
         */
        tus_url: string;
    };
} | {
    status: 'processing';
} | {
    status: 'uploaded' | 'media_expired';
    expires_at: string;
};

export type Hook = {
    id: string;
    enabled: boolean;
    /**
     * URL that receives the events, without the user name and password it was created with.
     */
    hook_url: string;
    hook_type: 'recording_added' | 'recording_updated' | 'recording_deleted' | 'highlight_added' | 'highlight_updated' | 'highlight_deleted' | 'story_added' | 'story_updated' | 'story_deleted' | 'upload_added' | 'upload_updated' | 'transcription_updated' | 'comment_added' | 'comment_updated' | 'comment_deleted';
    include: RecordingInclude | HighlightInclude | UploadInclude;
    inserted_at: string;
    /**
     * Signing secret; only in the response of Create Hook.
     */
    secret?: string;
};

export type TokenInfo = {
    type: 'oauth' | 'personal_access_token' | 'workspace_access_token';
    scope: 'personal' | 'workspace';
    /**
     * Present when scope is personal.
     */
    user_id?: string;
    /**
     * Present when scope is workspace.
     */
    workspace_id?: string;
    /**
     * Name of the user or workspace.
     */
    name: string;
    /**
     * Null means the token does not expire.
     */
    expires_at: string | null;
};

export type TranscriptEntry = {
    participant_id: string | null;
    /**
     * Name of the speaker.
     */
    speaker: string;
    /**
     * Milliseconds from the start of the recording.
     */
    start: number;
    end: number;
    text: string;
};

export type TokenResponse = {
    token_type: 'bearer';
    access_token: string;
    refresh_token?: string;
    expires_in?: number;
};

/**
 * An error, as RFC 6749 defines it.
 */
export type OAuthError = {
    /**
     * What kind of error this is.
     */
    error: string;
    /**
     * What went wrong this time.
     */
    error_description: string;
};

export type HighlightInclude = {
    transcript?: boolean;
    speakers?: boolean;
};

export type AddTagData = {
    body: {
        tag: string;
    };
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/tags';
};

export type AddTagErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type AddTagError = AddTagErrors[keyof AddTagErrors];

export type AddTagResponses = {
    /**
     * Success
     */
    200: Success;
};

export type AddTagResponse = AddTagResponses[keyof AddTagResponses];

export type DownloadRecordingData = {
    body?: never;
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/download';
};

export type DownloadRecordingErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type DownloadRecordingError = DownloadRecordingErrors[keyof DownloadRecordingErrors];

export type UpdateRecordingData = {
    body: {
        title: string;
    };
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}';
};

export type UpdateRecordingErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type UpdateRecordingError = UpdateRecordingErrors[keyof UpdateRecordingErrors];

export type UpdateRecordingResponses = {
    /**
     * Success
     */
    200: Success;
};

export type UpdateRecordingResponse = UpdateRecordingResponses[keyof UpdateRecordingResponses];

export type GetRecordingData = {
    body?: {
        include?: RecordingInclude;
    };
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}';
};

export type GetRecordingErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type GetRecordingError = GetRecordingErrors[keyof GetRecordingErrors];

export type GetRecordingResponses = {
    /**
     * Success
     */
    200: Recording;
};

export type GetRecordingResponse = GetRecordingResponses[keyof GetRecordingResponses];

export type ListRecordingsData = {
    body?: {
        /**
         * The `cursor` of the previous response. Opaque; never expires. It continues with the parameters of the call that returned it, such as `filter` and `include`; a parameter sent with it replaces that parameter.
         */
        cursor?: string;
        filter?: RecordingFilter;
        include?: RecordingInclude;
    };
    path?: never;
    query?: never;
    url: '/_/public-api/v2/recordings';
};

export type ListRecordingsErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid. `invalid_cursor`: The cursor is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ListRecordingsError = ListRecordingsErrors[keyof ListRecordingsErrors];

export type ListRecordingsResponses = {
    /**
     * Success
     */
    200: {
        /**
         * Send it as `cursor` to get the next page; null if this is the last page.
         */
        cursor: string | null;
        recordings: Array<Recording>;
    };
};

export type ListRecordingsResponse = ListRecordingsResponses[keyof ListRecordingsResponses];

export type RemoveTagData = {
    body?: never;
    path: {
        recording_id: string;
        tag: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/tags/{tag}';
};

export type RemoveTagErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type RemoveTagError = RemoveTagErrors[keyof RemoveTagErrors];

export type RemoveTagResponses = {
    /**
     * Success
     */
    200: Success;
};

export type RemoveTagResponse = RemoveTagResponses[keyof RemoveTagResponses];

export type ShareToTeamData = {
    body: {
        /**
         * From List Teams.
         */
        team_id: string;
    };
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/teams';
};

export type ShareToTeamErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ShareToTeamError = ShareToTeamErrors[keyof ShareToTeamErrors];

export type ShareToTeamResponses = {
    /**
     * Success
     */
    200: Success;
};

export type ShareToTeamResponse = ShareToTeamResponses[keyof ShareToTeamResponses];

export type ShareToUserData = {
    body: {
        /**
         * From List Users.
         */
        user_id: string;
    };
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/users';
};

export type ShareToUserErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ShareToUserError = ShareToUserErrors[keyof ShareToUserErrors];

export type ShareToUserResponses = {
    /**
     * Success
     */
    200: Success;
};

export type ShareToUserResponse = ShareToUserResponses[keyof ShareToUserResponses];

export type UnshareFromTeamData = {
    body?: never;
    path: {
        recording_id: string;
        team_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/teams/{team_id}';
};

export type UnshareFromTeamErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type UnshareFromTeamError = UnshareFromTeamErrors[keyof UnshareFromTeamErrors];

export type UnshareFromTeamResponses = {
    /**
     * Success
     */
    200: Success;
};

export type UnshareFromTeamResponse = UnshareFromTeamResponses[keyof UnshareFromTeamResponses];

export type UnshareFromUserData = {
    body?: never;
    path: {
        recording_id: string;
        user_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/users/{user_id}';
};

export type UnshareFromUserErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type UnshareFromUserError = UnshareFromUserErrors[keyof UnshareFromUserErrors];

export type UnshareFromUserResponses = {
    /**
     * Success
     */
    200: Success;
};

export type UnshareFromUserResponse = UnshareFromUserResponses[keyof UnshareFromUserResponses];

export type CreateUploadData = {
    body: {
        media_type: 'audio' | 'transcript' | 'video';
        /**
         * true (default): promoted automatically; false: stays staged until promoted.
         */
        auto_promote?: boolean;
        include?: UploadInclude;
        /**
         * Required when media_type is transcript.
         */
        attributes?: UploadAttributesInput;
    };
    path?: never;
    query?: never;
    url: '/_/public-api/v2/uploads/create';
};

export type CreateUploadErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed. `quota_exceeded`: Quota exceeded.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type CreateUploadError = CreateUploadErrors[keyof CreateUploadErrors];

export type CreateUploadResponses = {
    /**
     * Success
     */
    200: Upload;
};

export type CreateUploadResponse = CreateUploadResponses[keyof CreateUploadResponses];

export type UpdateUploadData = {
    body?: {
        attributes?: UploadAttributesInput;
        include?: UploadInclude;
    };
    path: {
        upload_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/uploads/{upload_id}';
};

export type UpdateUploadErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `wrong_state`: Not possible in the current state.
     */
    409: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type UpdateUploadError = UpdateUploadErrors[keyof UpdateUploadErrors];

export type UpdateUploadResponses = {
    /**
     * Success
     */
    200: Upload;
};

export type UpdateUploadResponse = UpdateUploadResponses[keyof UpdateUploadResponses];

export type GetUploadData = {
    body?: {
        include?: UploadInclude;
    };
    path: {
        upload_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/uploads/{upload_id}';
};

export type GetUploadErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type GetUploadError = GetUploadErrors[keyof GetUploadErrors];

export type GetUploadResponses = {
    /**
     * Success
     */
    200: Upload;
};

export type GetUploadResponse = GetUploadResponses[keyof GetUploadResponses];

export type ListUploadsData = {
    body?: {
        /**
         * The `cursor` of the previous response. Opaque; never expires. It continues with the parameters of the call that returned it, such as `filter` and `include`; a parameter sent with it replaces that parameter.
         */
        cursor?: string;
        include?: UploadInclude;
        filter?: UploadFilter;
    };
    path?: never;
    query?: never;
    url: '/_/public-api/v2/uploads';
};

export type ListUploadsErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid. `invalid_cursor`: The cursor is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ListUploadsError = ListUploadsErrors[keyof ListUploadsErrors];

export type ListUploadsResponses = {
    /**
     * Success
     */
    200: {
        uploads: Array<Upload>;
        /**
         * Send it as `cursor` to get the next page; null if this is the last page.
         */
        cursor: string | null;
    };
};

export type ListUploadsResponse = ListUploadsResponses[keyof ListUploadsResponses];

export type PromoteUploadData = {
    body?: {
        include?: UploadInclude;
    };
    path: {
        upload_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/uploads/{upload_id}/promote';
};

export type PromoteUploadErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `wrong_state`: Not possible in the current state.
     */
    409: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type PromoteUploadError = PromoteUploadErrors[keyof PromoteUploadErrors];

export type PromoteUploadResponses = {
    /**
     * Success
     */
    200: Upload;
};

export type PromoteUploadResponse = PromoteUploadResponses[keyof PromoteUploadResponses];

export type CreateHookData = {
    body: {
        /**
         * The URL to post to. A user name and password in it (https://user:password@host/) are stored encrypted, sent as Basic authentication and never shown again.
         */
        hook_url: string;
        hook_type: 'recording_added' | 'recording_updated' | 'recording_deleted' | 'highlight_added' | 'highlight_updated' | 'highlight_deleted' | 'story_added' | 'story_updated' | 'story_deleted' | 'upload_added' | 'upload_updated' | 'transcription_updated' | 'comment_added' | 'comment_updated' | 'comment_deleted';
        include?: RecordingInclude | HighlightInclude | UploadInclude;
    };
    path?: never;
    query?: never;
    url: '/_/public-api/v2/hooks/create';
};

export type CreateHookErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid. `hook_unreachable`: The hook URL did not accept the test request.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed. `quota_exceeded`: Quota exceeded.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type CreateHookError = CreateHookErrors[keyof CreateHookErrors];

export type CreateHookResponses = {
    /**
     * Success
     */
    200: Hook;
};

export type CreateHookResponse = CreateHookResponses[keyof CreateHookResponses];

export type DeleteHookData = {
    body?: never;
    path: {
        hook_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/hooks/{hook_id}';
};

export type DeleteHookErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type DeleteHookError = DeleteHookErrors[keyof DeleteHookErrors];

export type DeleteHookResponses = {
    /**
     * Success
     */
    200: Success;
};

export type DeleteHookResponse = DeleteHookResponses[keyof DeleteHookResponses];

export type ListHooksData = {
    body?: {
        filter?: HookFilter;
    };
    path?: never;
    query?: never;
    url: '/_/public-api/v2/hooks';
};

export type ListHooksErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed. `invalid_json`: The body is not valid JSON. `invalid_input`: The input is not valid.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ListHooksError = ListHooksErrors[keyof ListHooksErrors];

export type ListHooksResponses = {
    /**
     * Success
     */
    200: {
        hooks: Array<Hook>;
    };
};

export type ListHooksResponse = ListHooksResponses[keyof ListHooksResponses];

export type ListMeetingTypesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/_/public-api/v2/meeting_types';
};

export type ListMeetingTypesErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ListMeetingTypesError = ListMeetingTypesErrors[keyof ListMeetingTypesErrors];

export type ListMeetingTypesResponses = {
    /**
     * Success
     */
    200: {
        meeting_types: Array<MeetingType>;
    };
};

export type ListMeetingTypesResponse = ListMeetingTypesResponses[keyof ListMeetingTypesResponses];

export type ListTeamsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/_/public-api/v2/teams';
};

export type ListTeamsErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ListTeamsError = ListTeamsErrors[keyof ListTeamsErrors];

export type ListTeamsResponses = {
    /**
     * Success
     */
    200: {
        teams: Array<Team>;
    };
};

export type ListTeamsResponse = ListTeamsResponses[keyof ListTeamsResponses];

export type ListUsersData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/_/public-api/v2/users';
};

export type ListUsersErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `body_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type ListUsersError = ListUsersErrors[keyof ListUsersErrors];

export type ListUsersResponses = {
    /**
     * Success
     */
    200: {
        users: Array<User>;
    };
};

export type ListUsersResponse = ListUsersResponses[keyof ListUsersResponses];

export type TokenInfoData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/_/public-api/v2/token-info';
};

export type TokenInfoErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this. `forbidden`: Not allowed.
     */
    403: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type TokenInfoError = TokenInfoErrors[keyof TokenInfoErrors];

export type TokenInfoResponses = {
    /**
     * Success
     */
    200: TokenInfo;
};

export type TokenInfoResponse = TokenInfoResponses[keyof TokenInfoResponses];

export type GetTranscriptData = {
    body?: never;
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/transcript';
};

export type GetTranscriptErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type GetTranscriptError = GetTranscriptErrors[keyof GetTranscriptErrors];

export type GetTranscriptResponses = {
    /**
     * Success
     */
    200: Array<TranscriptEntry>;
};

export type GetTranscriptResponse = GetTranscriptResponses[keyof GetTranscriptResponses];

export type GetTranscriptTxtData = {
    body?: never;
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/transcript.txt';
};

export type GetTranscriptTxtErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type GetTranscriptTxtError = GetTranscriptTxtErrors[keyof GetTranscriptTxtErrors];

export type GetTranscriptTxtResponses = {
    /**
     * One line per section: speaker name, colon, text.
     */
    200: string;
};

export type GetTranscriptTxtResponse = GetTranscriptTxtResponses[keyof GetTranscriptTxtResponses];

export type GetTranscriptVttData = {
    body?: never;
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/transcript.vtt';
};

export type GetTranscriptVttErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type GetTranscriptVttError = GetTranscriptVttErrors[keyof GetTranscriptVttErrors];

export type GetTranscriptVttResponses = {
    /**
     * WebVTT with numbered cues and `<v Speaker>` voices.
     */
    200: string;
};

export type GetTranscriptVttResponse = GetTranscriptVttResponses[keyof GetTranscriptVttResponses];

export type GetTranscriptSrtData = {
    body?: never;
    path: {
        recording_id: string;
    };
    query?: never;
    url: '/_/public-api/v2/recordings/{recording_id}/transcript.srt';
};

export type GetTranscriptSrtErrors = {
    /**
     * `version_missing`: The Public-Api-Version header is missing. `version_unknown`: The Public-Api-Version header is not a known version. `bad_request`: The request is malformed.
     */
    400: Problem;
    /**
     * `token_missing`: An access token is required. `token_invalid`: The access token is not valid.
     */
    401: Problem;
    /**
     * `second_factor_setup_required`: Set up a second factor first. `refused_by_rule`: A security rule of the workspace refuses this.
     */
    403: Problem;
    /**
     * `not_found`: Not found.
     */
    404: Problem;
    /**
     * `version_retired`: This API version is retired.
     */
    410: Problem;
    /**
     * `misdirected_request`: The server is not set up for this host.
     */
    421: Problem;
    /**
     * `rate_limited`: Too many requests.
     */
    429: Problem;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type GetTranscriptSrtError = GetTranscriptSrtErrors[keyof GetTranscriptSrtErrors];

export type GetTranscriptSrtResponses = {
    /**
     * SubRip with numbered cues, `Speaker: text`.
     */
    200: string;
};

export type GetTranscriptSrtResponse = GetTranscriptSrtResponses[keyof GetTranscriptSrtResponses];

export type OauthTokenData = {
    body: {
        grant_type: 'authorization_code';
        code: string;
        /**
         * The verifier of the code_challenge (RFC 7636, S256). Required if the authorization request had one, as that of every public client.
         */
        code_verifier?: string;
        /**
         * If given, must equal the redirect_uri of the authorization request.
         */
        redirect_uri?: string;
        client_id: string;
        /**
         * Required for confidential clients.
         */
        client_secret?: string;
        /**
         * Restricts the tokens to this resource (RFC 8707): the server's URL, or its URL with /mcp. At the token endpoint it must be the one of the authorization request.
         */
        resource?: string;
    } | {
        grant_type: 'refresh_token';
        refresh_token: string;
        client_id: string;
        /**
         * Required for confidential clients.
         */
        client_secret?: string;
        /**
         * Restricts the tokens to this resource (RFC 8707): the server's URL, or its URL with /mcp. At the token endpoint it must be the one of the authorization request.
         */
        resource?: string;
    };
    path?: never;
    query?: never;
    url: '/_/public-api/oauth2/token';
};

export type OauthTokenErrors = {
    /**
     * `invalid_request`, `invalid_grant`, `unsupported_grant_type`, or `invalid_target` for a resource of another server.
     */
    400: OAuthError;
    /**
     * `invalid_client`: the client is unknown, or its secret is wrong.
     */
    401: OAuthError;
    /**
     * `slow_down`: too many requests or failures; try again after `Retry-After` seconds.
     */
    429: OAuthError;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type OauthTokenError = OauthTokenErrors[keyof OauthTokenErrors];

export type OauthTokenResponses = {
    /**
     * Success
     */
    200: TokenResponse;
};

export type OauthTokenResponse = OauthTokenResponses[keyof OauthTokenResponses];

export type OauthRevokeData = {
    body: {
        /**
         * An access token or a refresh token.
         */
        token: string;
        token_type_hint?: string;
        client_id: string;
        client_secret?: string;
    };
    path?: never;
    query?: never;
    url: '/_/public-api/oauth2/revoke';
};

export type OauthRevokeErrors = {
    /**
     * `invalid_request`, or `invalid_grant` for the token of another client.
     */
    400: OAuthError;
    /**
     * `invalid_client`: the client is unknown, or its secret is wrong.
     */
    401: OAuthError;
    /**
     * `slow_down`: too many requests or failures; try again after `Retry-After` seconds.
     */
    429: OAuthError;
    /**
     * `internal`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `unavailable`: Temporarily unavailable.
     */
    503: Problem;
};

export type OauthRevokeError = OauthRevokeErrors[keyof OauthRevokeErrors];

export type OauthRevokeResponses = {
    /**
     * Success
     */
    200: {
        [key: string]: never;
    };
};

export type OauthRevokeResponse = OauthRevokeResponses[keyof OauthRevokeResponses];

export type OnRecordingAddedWebhookPayload = RecordingAddedPayload;

export type OnRecordingAddedWebhookRequest = {
    body: OnRecordingAddedWebhookPayload;
    key: 'recording_added';
    path?: never;
    query?: never;
};

export type OnRecordingUpdatedWebhookPayload = RecordingUpdatedPayload;

export type OnRecordingUpdatedWebhookRequest = {
    body: OnRecordingUpdatedWebhookPayload;
    key: 'recording_updated';
    path?: never;
    query?: never;
};

export type OnRecordingDeletedWebhookPayload = RecordingDeletedPayload;

export type OnRecordingDeletedWebhookRequest = {
    body: OnRecordingDeletedWebhookPayload;
    key: 'recording_deleted';
    path?: never;
    query?: never;
};

export type OnHighlightAddedWebhookPayload = HighlightAddedPayload;

export type OnHighlightAddedWebhookRequest = {
    body: OnHighlightAddedWebhookPayload;
    key: 'highlight_added';
    path?: never;
    query?: never;
};

export type OnHighlightUpdatedWebhookPayload = HighlightUpdatedPayload;

export type OnHighlightUpdatedWebhookRequest = {
    body: OnHighlightUpdatedWebhookPayload;
    key: 'highlight_updated';
    path?: never;
    query?: never;
};

export type OnHighlightDeletedWebhookPayload = HighlightDeletedPayload;

export type OnHighlightDeletedWebhookRequest = {
    body: OnHighlightDeletedWebhookPayload;
    key: 'highlight_deleted';
    path?: never;
    query?: never;
};

export type OnStoryAddedWebhookPayload = StoryAddedPayload;

export type OnStoryAddedWebhookRequest = {
    body: OnStoryAddedWebhookPayload;
    key: 'story_added';
    path?: never;
    query?: never;
};

export type OnStoryUpdatedWebhookPayload = StoryUpdatedPayload;

export type OnStoryUpdatedWebhookRequest = {
    body: OnStoryUpdatedWebhookPayload;
    key: 'story_updated';
    path?: never;
    query?: never;
};

export type OnStoryDeletedWebhookPayload = StoryDeletedPayload;

export type OnStoryDeletedWebhookRequest = {
    body: OnStoryDeletedWebhookPayload;
    key: 'story_deleted';
    path?: never;
    query?: never;
};

export type OnUploadAddedWebhookPayload = UploadAddedPayload;

export type OnUploadAddedWebhookRequest = {
    body: OnUploadAddedWebhookPayload;
    key: 'upload_added';
    path?: never;
    query?: never;
};

export type OnUploadUpdatedWebhookPayload = UploadUpdatedPayload;

export type OnUploadUpdatedWebhookRequest = {
    body: OnUploadUpdatedWebhookPayload;
    key: 'upload_updated';
    path?: never;
    query?: never;
};

export type OnTranscriptionUpdatedWebhookPayload = TranscriptionUpdatedPayload;

export type OnTranscriptionUpdatedWebhookRequest = {
    body: OnTranscriptionUpdatedWebhookPayload;
    key: 'transcription_updated';
    path?: never;
    query?: never;
};

export type OnCommentAddedWebhookPayload = CommentAddedPayload;

export type OnCommentAddedWebhookRequest = {
    body: OnCommentAddedWebhookPayload;
    key: 'comment_added';
    path?: never;
    query?: never;
};

export type OnCommentUpdatedWebhookPayload = CommentUpdatedPayload;

export type OnCommentUpdatedWebhookRequest = {
    body: OnCommentUpdatedWebhookPayload;
    key: 'comment_updated';
    path?: never;
    query?: never;
};

export type OnCommentDeletedWebhookPayload = CommentDeletedPayload;

export type OnCommentDeletedWebhookRequest = {
    body: OnCommentDeletedWebhookPayload;
    key: 'comment_deleted';
    path?: never;
    query?: never;
};
