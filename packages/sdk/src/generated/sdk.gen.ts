// Generated from the OpenAPI document by npm run generate. Do not edit.

import { client } from './client.gen.ts';
import { buildClientParams, type Client, type ClientMeta, type Options as Options2, type RequestResult, type TDataShape } from './client/index.ts';
import type { AddTagErrors, AddTagResponses, CreateHookErrors, CreateHookResponses, CreateUploadErrors, CreateUploadResponses, DeleteHookErrors, DeleteHookResponses, DownloadRecordingErrors, GetRecordingErrors, GetRecordingResponses, GetTranscriptErrors, GetTranscriptResponses, GetTranscriptSrtErrors, GetTranscriptSrtResponses, GetTranscriptTxtErrors, GetTranscriptTxtResponses, GetTranscriptVttErrors, GetTranscriptVttResponses, GetUploadErrors, GetUploadResponses, HighlightInclude, HookFilter, ListHooksErrors, ListHooksResponses, ListMeetingTypesErrors, ListMeetingTypesResponses, ListRecordingsErrors, ListRecordingsResponses, ListTeamsErrors, ListTeamsResponses, ListUploadsErrors, ListUploadsResponses, ListUsersErrors, ListUsersResponses, OauthRevokeErrors, OauthRevokeResponses, OauthTokenErrors, OauthTokenResponses, PromoteUploadErrors, PromoteUploadResponses, RecordingFilter, RecordingInclude, RemoveTagErrors, RemoveTagResponses, ShareToTeamErrors, ShareToTeamResponses, ShareToUserErrors, ShareToUserResponses, TokenInfoErrors, TokenInfoResponses, UnshareFromTeamErrors, UnshareFromTeamResponses, UnshareFromUserErrors, UnshareFromUserResponses, UpdateRecordingErrors, UpdateRecordingResponses, UpdateUploadErrors, UpdateUploadResponses, UploadAttributesInput, UploadFilter, UploadInclude } from './types.gen.ts';

export type Options<TData extends TDataShape = TDataShape, ThrowOnError extends boolean = boolean, TResponse = unknown> = Options2<TData, ThrowOnError, TResponse> & {
    /**
     * You can provide a client instance returned by `createClient()` instead of
     * individual options. This might be also useful if you want to implement a
     * custom client.
     */
    client?: Client;
    /**
     * You can pass arbitrary values through the `meta` object. This can be
     * used to access values that aren't defined as part of the SDK function.
     */
    meta?: keyof ClientMeta extends never ? Record<string, unknown> : ClientMeta;
};

class HeyApiClient {
    protected client: Client;
    
    constructor(args?: {
        client?: Client;
    }) {
        this.client = args?.client ?? client;
    }
}

class HeyApiRegistry<T> {
    private readonly defaultKey = 'default';
    
    private readonly instances: Map<string, T> = new Map();
    
    get(key?: string): T {
        const instance = this.instances.get(key ?? this.defaultKey);
        if (!instance) {
            throw new Error(`No SDK client found. Create one with "new ParleyApi()" to fix this error.`);
        }
        return instance;
    }
    
    set(value: T, key?: string): void {
        this.instances.set(key ?? this.defaultKey, value);
    }
}

export class ParleyApi extends HeyApiClient {
    public static readonly __registry: HeyApiRegistry<ParleyApi> = new HeyApiRegistry<ParleyApi>();
    
    constructor(args?: {
        client?: Client;
        key?: string;
    }) {
        super(args);
        ParleyApi.__registry.set(this, args?.key);
    }
    
    /**
     * Add Tag
     *
     * Adds a tag. Adding an existing tag has no effect.
     */
    public addTag<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        tag: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<AddTagResponses, AddTagErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'body', key: 'tag' }] }]);
        return (options?.client ?? this.client).put<AddTagResponses, AddTagErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/tags',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Download Recording
     *
     * Redirects to the recording's file. Returns 404 for media type transcript.
     */
    public downloadRecording<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<unknown, DownloadRecordingErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }] }]);
        return (options?.client ?? this.client).get<unknown, DownloadRecordingErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/download',
            ...options,
            ...params
        });
    }
    
    /**
     * Update Recording
     *
     * Renames a recording.
     */
    public updateRecording<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        title: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<UpdateRecordingResponses, UpdateRecordingErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'body', key: 'title' }] }]);
        return (options?.client ?? this.client).patch<UpdateRecordingResponses, UpdateRecordingErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Get Recording
     *
     * Returns a recording.
     */
    public getRecording<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        include?: RecordingInclude;
    }, options?: Options<never, ThrowOnError>): RequestResult<GetRecordingResponses, GetRecordingErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'body', key: 'include' }] }]);
        return (options?.client ?? this.client).post<GetRecordingResponses, GetRecordingErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * List Recordings
     *
     * Lists the recordings that the token can see, newest first, paginated. Filters combine with AND.
     */
    public listRecordings<ThrowOnError extends boolean = true>(parameters?: {
        cursor?: string;
        filter?: RecordingFilter;
        include?: RecordingInclude;
    }, options?: Options<never, ThrowOnError>): RequestResult<ListRecordingsResponses, ListRecordingsErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [
                    { in: 'body', key: 'cursor' },
                    { in: 'body', key: 'filter' },
                    { in: 'body', key: 'include' }
                ] }]);
        return (options?.client ?? this.client).post<ListRecordingsResponses, ListRecordingsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Remove Tag
     *
     * Removes a tag. Removing a missing tag has no effect.
     */
    public removeTag<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        tag: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<RemoveTagResponses, RemoveTagErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'path', key: 'tag' }] }]);
        return (options?.client ?? this.client).delete<RemoveTagResponses, RemoveTagErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/tags/{tag}',
            ...options,
            ...params
        });
    }
    
    /**
     * Share to Team
     *
     * Shares the recording with a team of the workspace.
     */
    public shareToTeam<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        team_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<ShareToTeamResponses, ShareToTeamErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'body', key: 'team_id' }] }]);
        return (options?.client ?? this.client).put<ShareToTeamResponses, ShareToTeamErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/teams',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Share to User
     *
     * Shares the recording with a user of the workspace.
     */
    public shareToUser<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        user_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<ShareToUserResponses, ShareToUserErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'body', key: 'user_id' }] }]);
        return (options?.client ?? this.client).put<ShareToUserResponses, ShareToUserErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/users',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Unshare from Team
     *
     * Revokes a team's share.
     */
    public unshareFromTeam<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        team_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<UnshareFromTeamResponses, UnshareFromTeamErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'path', key: 'team_id' }] }]);
        return (options?.client ?? this.client).delete<UnshareFromTeamResponses, UnshareFromTeamErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/teams/{team_id}',
            ...options,
            ...params
        });
    }
    
    /**
     * Unshare from User
     *
     * Revokes a user's share. A user with other access, such as a participant, can still see the recording.
     */
    public unshareFromUser<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
        user_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<UnshareFromUserResponses, UnshareFromUserErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }, { in: 'path', key: 'user_id' }] }]);
        return (options?.client ?? this.client).delete<UnshareFromUserResponses, UnshareFromUserErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/users/{user_id}',
            ...options,
            ...params
        });
    }
    
    /**
     * Create Upload
     *
     * Creates an upload that becomes a recording.
     */
    public createUpload<ThrowOnError extends boolean = true>(parameters: {
        media_type: 'audio' | 'transcript' | 'video';
        auto_promote?: boolean;
        include?: UploadInclude;
        attributes?: UploadAttributesInput;
    }, options?: Options<never, ThrowOnError>): RequestResult<CreateUploadResponses, CreateUploadErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [
                    { in: 'body', key: 'media_type' },
                    { in: 'body', key: 'auto_promote' },
                    { in: 'body', key: 'include' },
                    { in: 'body', key: 'attributes' }
                ] }]);
        return (options?.client ?? this.client).post<CreateUploadResponses, CreateUploadErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/uploads/create',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Update Upload
     *
     * Changes an upload's attributes. Attributes that are left out keep their values. Allowed in status awaiting, or staged with auto_promote false.
     */
    public updateUpload<ThrowOnError extends boolean = true>(parameters: {
        upload_id: string;
        attributes?: UploadAttributesInput;
        include?: UploadInclude;
    }, options?: Options<never, ThrowOnError>): RequestResult<UpdateUploadResponses, UpdateUploadErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [
                    { in: 'path', key: 'upload_id' },
                    { in: 'body', key: 'attributes' },
                    { in: 'body', key: 'include' }
                ] }]);
        return (options?.client ?? this.client).patch<UpdateUploadResponses, UpdateUploadErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/uploads/{upload_id}',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Get Upload
     *
     * Returns an upload.
     */
    public getUpload<ThrowOnError extends boolean = true>(parameters: {
        upload_id: string;
        include?: UploadInclude;
    }, options?: Options<never, ThrowOnError>): RequestResult<GetUploadResponses, GetUploadErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'upload_id' }, { in: 'body', key: 'include' }] }]);
        return (options?.client ?? this.client).post<GetUploadResponses, GetUploadErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/uploads/{upload_id}',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * List Uploads
     *
     * Lists uploads of the token's scope, newest first, paginated.
     */
    public listUploads<ThrowOnError extends boolean = true>(parameters?: {
        cursor?: string;
        include?: UploadInclude;
        filter?: UploadFilter;
    }, options?: Options<never, ThrowOnError>): RequestResult<ListUploadsResponses, ListUploadsErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [
                    { in: 'body', key: 'cursor' },
                    { in: 'body', key: 'include' },
                    { in: 'body', key: 'filter' }
                ] }]);
        return (options?.client ?? this.client).post<ListUploadsResponses, ListUploadsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/uploads',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Promote Upload
     *
     * Promotes a staged upload with auto_promote false to a recording.
     */
    public promoteUpload<ThrowOnError extends boolean = true>(parameters: {
        upload_id: string;
        include?: UploadInclude;
    }, options?: Options<never, ThrowOnError>): RequestResult<PromoteUploadResponses, PromoteUploadErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'upload_id' }, { in: 'body', key: 'include' }] }]);
        return (options?.client ?? this.client).post<PromoteUploadResponses, PromoteUploadErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/uploads/{upload_id}/promote',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Create Hook
     *
     * Registers a URL for events of one type. The service first sends it a test request, which must return 2xx.
     */
    public createHook<ThrowOnError extends boolean = true>(parameters: {
        hook_url: string;
        hook_type: 'recording_added' | 'recording_updated' | 'recording_deleted' | 'highlight_added' | 'highlight_updated' | 'highlight_deleted' | 'story_added' | 'story_updated' | 'story_deleted' | 'upload_added' | 'upload_updated' | 'transcription_updated' | 'comment_added' | 'comment_updated' | 'comment_deleted';
        include?: RecordingInclude | HighlightInclude | UploadInclude;
    }, options?: Options<never, ThrowOnError>): RequestResult<CreateHookResponses, CreateHookErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [
                    { in: 'body', key: 'hook_url' },
                    { in: 'body', key: 'hook_type' },
                    { in: 'body', key: 'include' }
                ] }]);
        return (options?.client ?? this.client).post<CreateHookResponses, CreateHookErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/hooks/create',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Delete Hook
     *
     * Deletes a hook. Nothing more is sent to it.
     */
    public deleteHook<ThrowOnError extends boolean = true>(parameters: {
        hook_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<DeleteHookResponses, DeleteHookErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'hook_id' }] }]);
        return (options?.client ?? this.client).delete<DeleteHookResponses, DeleteHookErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/hooks/{hook_id}',
            ...options,
            ...params
        });
    }
    
    /**
     * List Hooks
     *
     * Lists the hooks of the token's scope.
     */
    public listHooks<ThrowOnError extends boolean = true>(parameters?: {
        filter?: HookFilter;
    }, options?: Options<never, ThrowOnError>): RequestResult<ListHooksResponses, ListHooksErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'body', key: 'filter' }] }]);
        return (options?.client ?? this.client).post<ListHooksResponses, ListHooksErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/hooks',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * List Meeting Types
     *
     * Lists the workspace's meeting types, internal ones first.
     */
    public listMeetingTypes<ThrowOnError extends boolean = true>(options?: Options<never, ThrowOnError>): RequestResult<ListMeetingTypesResponses, ListMeetingTypesErrors, ThrowOnError, 'data'> {
        return (options?.client ?? this.client).post<ListMeetingTypesResponses, ListMeetingTypesErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/meeting_types',
            ...options
        });
    }
    
    /**
     * List Teams
     *
     * Lists the workspace's teams.
     */
    public listTeams<ThrowOnError extends boolean = true>(options?: Options<never, ThrowOnError>): RequestResult<ListTeamsResponses, ListTeamsErrors, ThrowOnError, 'data'> {
        return (options?.client ?? this.client).post<ListTeamsResponses, ListTeamsErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/teams',
            ...options
        });
    }
    
    /**
     * List Users
     *
     * Lists the workspace's active users.
     */
    public listUsers<ThrowOnError extends boolean = true>(options?: Options<never, ThrowOnError>): RequestResult<ListUsersResponses, ListUsersErrors, ThrowOnError, 'data'> {
        return (options?.client ?? this.client).post<ListUsersResponses, ListUsersErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/users',
            ...options
        });
    }
    
    /**
     * Token Info
     *
     * Returns the token's type, scope, owner and expiry.
     */
    public tokenInfo<ThrowOnError extends boolean = true>(options?: Options<never, ThrowOnError>): RequestResult<TokenInfoResponses, TokenInfoErrors, ThrowOnError, 'data'> {
        return (options?.client ?? this.client).get<TokenInfoResponses, TokenInfoErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/token-info',
            ...options
        });
    }
    
    /**
     * Transcript JSON
     *
     * Returns the transcript's entries in spoken order; empty if there is no transcript.
     */
    public getTranscript<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<GetTranscriptResponses, GetTranscriptErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }] }]);
        return (options?.client ?? this.client).get<GetTranscriptResponses, GetTranscriptErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/transcript',
            ...options,
            ...params
        });
    }
    
    /**
     * Transcript txt
     *
     * One line per section: speaker name, colon, text.
     */
    public getTranscriptTxt<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<GetTranscriptTxtResponses, GetTranscriptTxtErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }] }]);
        return (options?.client ?? this.client).get<GetTranscriptTxtResponses, GetTranscriptTxtErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/transcript.txt',
            ...options,
            ...params
        });
    }
    
    /**
     * Transcript vtt
     *
     * WebVTT with numbered cues and `<v Speaker>` voices.
     */
    public getTranscriptVtt<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<GetTranscriptVttResponses, GetTranscriptVttErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }] }]);
        return (options?.client ?? this.client).get<GetTranscriptVttResponses, GetTranscriptVttErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/transcript.vtt',
            ...options,
            ...params
        });
    }
    
    /**
     * Transcript srt
     *
     * SubRip with numbered cues, `Speaker: text`.
     */
    public getTranscriptSrt<ThrowOnError extends boolean = true>(parameters: {
        recording_id: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<GetTranscriptSrtResponses, GetTranscriptSrtErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ in: 'path', key: 'recording_id' }] }]);
        return (options?.client ?? this.client).get<GetTranscriptSrtResponses, GetTranscriptSrtErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            security: [{
                    key: 'accessToken',
                    scheme: 'bearer',
                    type: 'http'
                }],
            url: '/_/public-api/v2/recordings/{recording_id}/transcript.srt',
            ...options,
            ...params
        });
    }
    
    /**
     * Generate or Refresh Token
     *
     * Exchanges an authorization code or a refresh token for tokens. Legacy clients receive neither `refresh_token` nor `expires_in`.
     */
    public oauthToken<ThrowOnError extends boolean = true>(parameters: {
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
    }, options?: Options<never, ThrowOnError>): RequestResult<OauthTokenResponses, OauthTokenErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [{ key: 'body', map: 'body' }] }]);
        return (options?.client ?? this.client).post<OauthTokenResponses, OauthTokenErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            url: '/_/public-api/oauth2/token',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
    
    /**
     * Revoke Token
     *
     * Revokes a token. Revoking a refresh token also revokes all tokens issued from the same authorization code. An unknown token counts as revoked.
     */
    public oauthRevoke<ThrowOnError extends boolean = true>(parameters: {
        token: string;
        token_type_hint?: string;
        client_id: string;
        client_secret?: string;
    }, options?: Options<never, ThrowOnError>): RequestResult<OauthRevokeResponses, OauthRevokeErrors, ThrowOnError, 'data'> {
        const params = buildClientParams([parameters], [{ args: [
                    { in: 'body', key: 'token' },
                    { in: 'body', key: 'token_type_hint' },
                    { in: 'body', key: 'client_id' },
                    { in: 'body', key: 'client_secret' }
                ] }]);
        return (options?.client ?? this.client).post<OauthRevokeResponses, OauthRevokeErrors, ThrowOnError, 'data'>({
            responseStyle: 'data',
            url: '/_/public-api/oauth2/revoke',
            ...options,
            ...params,
            headers: {
                'Content-Type': 'application/json',
                ...options?.headers,
                ...params.headers
            }
        });
    }
}
