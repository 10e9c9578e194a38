// The types of other modules that `import WebImage` provides.
@_exported public import HTTPTypes
@_exported public import WebImageCache
@_exported public import WebImageCodecs
@_exported public import WebImageCore
@_exported public import WebImageDownload
@_exported public import WebImageProcessing
