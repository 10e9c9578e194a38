// What a program that imports WebImage needs of the rooms below.
@_exported public import HTTPTypes
@_exported public import WebImageCache
@_exported public import WebImageCodecs
@_exported public import WebImageCore
@_exported public import WebImageDownload
@_exported public import WebImageProcessing
